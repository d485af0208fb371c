"""Couriers between Reticent and Flower: opaque bytes from one socket to another. No data, no key, no state."""

import os

# Before anything of Flower is imported: it reports nothing, and asks nobody for updates.
os.environ["FLWR_TELEMETRY_ENABLED"] = "0"
os.environ["FLWR_DISABLE_UPDATE_CHECK"] = "1"
