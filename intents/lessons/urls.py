from django.urls import path

from intents.lessons import pages

app_name = "lessons"
urlpatterns = [
    path("", pages.lesson_list, name="list"),
    path("add/", pages.lesson_add, name="add"),
    path("<str:lesson_id>/", pages.lesson_show, name="show"),
    path("<str:lesson_id>/retire/", pages.lesson_retire, name="retire"),
    path("<str:lesson_id>/restore/", pages.lesson_restore, name="restore"),
]
