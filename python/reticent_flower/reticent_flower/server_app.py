"""The courier at the lead: `flwr run . --run-config 'courier="/path/of/the/socket"'`."""

from collections.abc import Iterable

import reticent_flower  # noqa: F401  (switches telemetry and update checks off, before Flower is imported)
from flwr.app import ConfigRecord, Context, Message, RecordDict
from flwr.serverapp import Grid, ServerApp

from .courier import carry, visit

# What takes longer was lost: a parcel is carried again then. In seconds.
LOST = 120.0

app = ServerApp()


class FlowerEngine:
    """Parcels as messages of Flower."""

    def __init__(self, grid: Grid) -> None:
        self.grid = grid

    def nodes(self) -> Iterable[int]:
        return self.grid.get_node_ids()

    def send(self, node: int, parcel: bytes) -> str:
        content = RecordDict({"parcel": ConfigRecord({"bytes": parcel})})
        message = Message(content, dst_node_id=node, message_type="query", ttl=LOST)
        (ticket,) = self.grid.push_messages([message])
        return ticket

    def collect(self, tickets: list[str]) -> dict[str, bytes | None]:
        came: dict[str, bytes | None] = {}
        for reply in self.grid.pull_messages(tickets):
            parcel = reply.content["parcel"]["bytes"] if reply.has_content() else None
            came[reply.metadata.reply_to_message_id] = parcel
        return came


@app.main()
def main(grid: Grid, context: Context) -> None:
    """Carries until the lead is gone; a new `flwr run` goes on with the same run of Reticent."""
    path, patience = str(context.run_config["courier"]), float(context.run_config["patience"])
    print(carry(FlowerEngine(grid), lambda parcel: visit(path, parcel, 0.1), patience=patience))
