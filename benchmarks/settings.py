"""The product's settings with the benchmark's routes and its seeding command beside them."""

from controlplane.settings import *  # noqa: F403

INSTALLED_APPS = [*INSTALLED_APPS, "benchmarks"]  # noqa: F405
ROOT_URLCONF = "benchmarks.urls"
