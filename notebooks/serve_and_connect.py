# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     name: python3
# ---

# %% [markdown]
# # Serve and connect
#
# Trainers and agents of other projects play these worlds over the network, and agents of yours ask
# this suite's models. Each server is one command. Needed are `pip install
# '.[all,openenv,serve]'`, in a clone, and `textcraft-gym setup local`.

# %%
import json
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from urllib.request import Request, urlopen

import openai
from openenv import GenericEnvClient

import textcraft_gym

# %% [markdown]
# In a terminal, `textcraft-gym serve ...` runs until Ctrl-C. Here it runs for the length of a
# `with`: port 0 takes a free one, and the first line that is printed says where the server is.


# %%
@contextmanager
def served(*arguments):
    """Yield the address of a server."""
    command = [sys.executable, "-m", "textcraft_gym", "serve", *arguments, "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            line = server.stdout.readline()
            print(line, end="")
            yield next(word for word in line.split() if word.startswith("http"))
        finally:
            server.terminate()


# %% [markdown]
# ## A world for OpenEnv
#
# A connection is a session. The same task and seed give the same bytes as `gym.make`.

# %%
with (
    served("openenv", "--env", "TextCraft-v0") as address,
    GenericEnvClient(base_url=address).sync() as client,
):
    result = client.reset(task="minecraft:ladder", seed=0)
    print(result.observation["text"].splitlines()[-1])
    for command in [
        *["get 2 bamboo", "craft 1 stick using 2 bamboo"] * 7,
        "craft 3 ladder using 7 stick",
    ]:
        result = client.step({"command": command})
    print(result.observation["text"], "- reward", result.reward, "- done", result.done)
    print(client.state()["step_count"], "commands")

# %% [markdown]
# ## A world for AgentGym
#
# The routes and the answers are those of AgentGym's own servers: its clients only need the address.


# %%
def post(path, **body):
    """Return the answer to a request."""
    request = Request(
        address + path, json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urlopen(request) as answer:
        return json.load(answer)


with served("agentgym", "--env", "alfworld") as address:
    session = post("/create")["id"]
    print(post("/reset", id=session, game=0)["observation"])
    print(post("/step", id=session, action="inventory"))
    post("/close", id=session)

# %% [markdown]
# ## A model behind OpenAI's API
#
# The small model in the process stands for one that you serve. A client asks it in a chat, and an
# agent of this suite plays with it over the network as it does without.

# %%
with served("model", "--model", "local") as address:
    client = openai.OpenAI(base_url=address, api_key="none")
    observation = textcraft_gym.TextEpisode("TextCraft-v0").reset("minecraft:beehive", seed=0)
    manual = (
        "Answer with get 1 oak log, craft 4 oak planks using 1 oak log, inventory, "
        "or a thought: think: I need a log."
    )
    chat = [{"role": "system", "content": manual}, {"role": "user", "content": observation}]
    answer = client.chat.completions.create(model="local", messages=chat, temperature=0, stop="\n")
    print(answer.choices[0].message.content, answer.usage.total_tokens, "tokens")

    far = f"openai:local,endpoint=completion,base_url={address},api_key=none"
    runs = {}
    for name, model in {"here": "local", "there": far}.items():
        spec = textcraft_gym.RunSpec(
            "TextCraft-v0", "test", "react", model=model, prompts="short", limit=2
        )
        records = textcraft_gym.evaluate(spec, Path(tempfile.mkdtemp()))
        runs[name] = [(record["task"], record["won"], record["calls"]) for record in records]
    assert runs["here"] == runs["there"]
    print(*runs["there"], sep="\n")
