"""The courier at a party: `flower-supernode --node-config 'courier="/path/of/the/socket"'`."""

import time

import reticent_flower  # noqa: F401  (switches telemetry and update checks off, before Flower is imported)
from flwr.app import ConfigRecord, Context, Message, RecordDict
from flwr.clientapp import ClientApp

from .courier import Gone, visit

# Reticent answers within this, or later: then the courier comes again.
WAIT = 15.0

app = ClientApp()


@app.query()
def carried(message: Message, context: Context) -> Message:
    """Hands in what has come, and takes along what the party says."""
    until = time.monotonic() + WAIT
    parcel, said = message.content["parcel"]["bytes"], b""
    while True:
        try:
            said = visit(str(context.node_config["courier"]), parcel, max(until - time.monotonic(), 0.0))
            break
        except Gone:
            # Not started yet, or between two starts.
            if time.monotonic() >= until:
                break
            time.sleep(0.5)
    return Message(RecordDict({"parcel": ConfigRecord({"bytes": said})}), reply_to=message)
