"""``sfumato run CONFIG``, which SIGKILLs itself at a named point. Run as a script.

Arguments: CONFIG POINT N: dies the N-th time it comes to POINT.
"""

import os
import signal
import sys

from paho.mqtt.client import Client

import agent.store
from agent.cli import main

config, point, count = sys.argv[1], sys.argv[2], int(sys.argv[3])


def passing(name):
    global count  # noqa: PLW0603 - a script
    if name == point:
        count -= 1
        if count == 0:
            os.kill(os.getpid(), signal.SIGKILL)


real_commit = agent.store.Store.commit
real_open = agent.store.open_database
real_publish = Client.publish


def commit(self, **batch):
    passing("before commit")
    real_commit(self, **batch)
    passing("after commit")


def open_database(path):
    database = real_open(path)
    # SQLite calls this before it executes a statement.
    database.set_trace_callback(lambda text: passing("inside commit") if text == "COMMIT" else None)
    return database


def publish(self, *words, **more):
    message = real_publish(self, *words, **more)
    passing("after publish")
    return message


agent.store.Store.commit = commit
agent.store.open_database = open_database
Client.publish = publish
main(["run", config])
