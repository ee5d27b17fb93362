from django.urls import path

from intents import lesson_pages

app_name = "lessons"
urlpatterns = [
    path("", lesson_pages.lesson_list, name="list"),
    path("add/", lesson_pages.lesson_add, name="add"),
    path("<str:lesson_id>/", lesson_pages.lesson_show, name="show"),
    path("<str:lesson_id>/retire/", lesson_pages.lesson_retire, name="retire"),
    path("<str:lesson_id>/restore/", lesson_pages.lesson_restore, name="restore"),
]
