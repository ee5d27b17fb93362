from django.urls import path

from traces import pages

app_name = "lessons"
urlpatterns = [path("", pages.lesson_list, name="list")]
