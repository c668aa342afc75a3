"""The Singer tap for Meta against the sandbox, run as its users run it: discovery,
a choice of streams, and two syncs, the second with the state of the first."""
import json
import os
import pathlib
import subprocess
import sys

from sandbox import Totals, answer, first, grant, last, micros

folder = pathlib.Path(os.environ["HOME"])
totals = Totals()


def write(name, value):
    path = folder / name
    path.write_text(json.dumps(value), encoding="utf-8")
    return str(path)


config = write("config.json", {
    "start_date": f"{first}T00:00:00Z", "end_date": last, "account_id": grant["account_id"], "access_token": grant["access_token"], "insights_buffer_days": "1"})


def tap(*arguments):
    program = pathlib.Path(sys.executable).parent / "tap-facebook"
    done = subprocess.run([sys.executable, program, "--config", config, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def sync(state):
    lines = [json.loads(line) for line in tap("--properties", properties, "--state", write("state.json", state)).splitlines()]
    records = {stream: [m["record"] for m in lines if m["type"] == "RECORD" and m["stream"] == stream] for stream in chosen}
    return records, [m["value"] for m in lines if m["type"] == "STATE"][-1]


catalog = json.loads(tap("--discover"))
chosen = ("campaigns", "ads_insights")
assert set(chosen) < {s["stream"] for s in catalog["streams"]}
for stream in catalog["streams"]:
    for of in stream["metadata"] if stream["stream"] in chosen else ():
        of["metadata"]["selected"] = True
properties = write("properties.json", catalog)

# The tap reads one day before its bookmark again.
records, state = sync({"bookmarks": {"ads_insights": {"date_start": f"{first}T00:00:00+00:00"}}})
assert state["bookmarks"]["ads_insights"]["date_start"].startswith(last), state
rows = [r for r in records["ads_insights"] if r["date_start"][:10] >= first]
assert len(rows) < len(records["ads_insights"])
totals.add("ads by day", rows, {
    "impressions": lambda r: int(r["impressions"]), "clicks": lambda r: int(r["clicks"]), "spend_micros": lambda r: micros(f"{r['spend']:.2f}")}, "ads")
campaigns = records["campaigns"]
assert campaigns and all(c["account_id"] == grant["account_id"] and c["name"] and c["updated_time"] and c["ads"]["data"] for c in campaigns), campaigns[0]

# Nothing has changed since the state, so only the last two days come again.
again, _ = sync(state)
assert not again["campaigns"] and len({r["date_start"] for r in again["ads_insights"]}) == 2, again["campaigns"]

answer(totals=totals.list, accounts=[grant["account_id"]])
