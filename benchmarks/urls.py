from django.urls import include, path
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView


class NoopView(APIView):
    """What DRF alone costs: no authentication, no throttle, no parsing, no database."""

    authentication_classes = ()
    permission_classes = ()
    throttle_classes = ()

    def post(self, request: Request) -> Response:
        return Response({"ok": True})


urlpatterns = [path("bench/noop", NoopView.as_view()), path("", include("controlplane.urls"))]
