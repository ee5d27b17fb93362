from __future__ import annotations


def pytest_ignore_collect(collection_path, config):
    """Leave the schema's tests out without importing them where deep tests are not wanted: to read it takes seconds."""
    if collection_path.name == "test_schema.py" and "not deep" in config.option.markexpr:
        return True
    return None
