"""A small project; the test chooses its database."""

import json
import os

SECRET_KEY = "only for tests"
USE_TZ = True
DEBUG = os.environ.get("SHOP_DEBUG") == "1"
INSTALLED_APPS = ["tickbird.django", "shop"]
DATABASES = {"default": json.loads(os.environ["SHOP_DATABASE"])}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
TICKBIRD = json.loads(os.environ.get("SHOP_TICKBIRD", '{"APP": "shop"}'))
