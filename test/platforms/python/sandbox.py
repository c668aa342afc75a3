"""What a script gets from the test that runs it, and how it answers."""
import contextlib
import json
import os
import urllib.request

_input = json.loads(os.environ["SANDBOX_INPUT"])

# grant opens the platform: account_id, access_token, refresh_token. intent is
# what else the test asks for: the first and the last day of reports, and the
# app.
grant, intent = _input["grant"], _input["intent"]
first, last = intent["first"], intent["last"]


def control(method, path, body=None):
    """Calls the sandbox's own API, such as POST faults."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"{os.environ['SANDBOX_URL']}/_sandbox/{path}", data=data, method=method)
    with urllib.request.urlopen(request) as response:
        text = response.read()
    return json.loads(text) if text else None


def fails(platform, fault, path=""):
    """Has the platform fail once."""
    control("POST", "faults", {"platform": platform, "fault": fault, "count": 1, "path": path})


@contextlib.contextmanager
def refused(kind, check):
    """Expects an exception of a kind that the check accepts."""
    try:
        yield
    except kind as e:
        assert check(e), f"the SDK reports {e!r}"
    else:
        raise AssertionError(f"the platform did not refuse, want {kind.__name__}")


class Totals:
    """Collects the totals of reports, which the test compares with the truth."""

    def __init__(self):
        self.list = []

    def add(self, name, rows, metrics, family="base", days=(first, last), part=False):
        """Adds up metrics of rows. metrics maps measures of the truth to functions
        of a row, which return whole numbers or millionths. part says that the report
        has no metrics of ads that were removed."""
        assert rows, f"{name} has no rows"
        sums = {measure: sum(of(row) for row in rows) for measure, of in metrics.items()}
        self.list.append({"name": name, "family": family, "first": days[0], "last": days[1], "sums": sums, "part": part})


def micros(text):
    """Returns an amount or a count in millionths, without rounding."""
    whole, _, rest = str(text).partition(".")
    assert len(rest) <= 6, f"{text} has more than six decimals"
    return int(whole + rest.ljust(6, "0"))


def answer(**values):
    """Gives the test its answer."""
    with open(os.environ["SANDBOX_OUTPUT"], "w", encoding="utf-8") as file:
        json.dump(values, file)
