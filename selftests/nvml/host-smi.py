# SPDX-License-Identifier: MIT
"""What memcast-smi says of the processes of host-smi.c, for host-smi.sh.

host-smi.py FOLDER DOCS: prints a line for each thing that is as it should be.
"""
import json
import sys
from xml.etree import ElementTree

FOLDER, DOCS = sys.argv[1:]
SVG = "{http://www.w3.org/2000/svg}"


def shows(name, good, words=""):
    print(name if good else f"{name} is not so: {words}")


with open(f"{FOLDER}/smi.json", encoding="utf-8") as file:
    state = json.load(file)
with open(f"{FOLDER}/topo.json", encoding="utf-8") as file:
    topo = json.load(file)

try:
    import jsonschema
except ImportError:
    print("no jsonschema")
else:
    def check(words, document, schema, taken):
        """Prints words[0] if the schema accepts a document, words[1] if it requires all taken."""
        with open(f"{DOCS}/{schema}", encoding="utf-8") as opened:
            validator = jsonschema.Draft202012Validator(json.load(opened))
        errors = [error.message for error in validator.iter_errors(document)]
        shows(words[0], not errors, errors)
        silent = []
        for of, name in taken:
            value = of.pop(name)
            if validator.is_valid(document):
                silent.append(name)
            of[name] = "a word"
            if validator.is_valid(document):
                silent.append(name + " of another type")
            of[name] = value
        shows(words[1], not silent, silent)

    # The schema requires each field, at each level.
    member = state["teams"][0]["members"][0]
    check(("schema", "schema_refuses"), state, "memcast-smi.schema.json",
          [(state, "teams"), (state["teams"][0], "missing"), (state["memories"][0], "pids"),
           (member, "bound"), (state["devices"][0], "free"), (member["bindings"][0], "from"),
           (state["memories"][0]["places"][0], "at"), (state, "backing")])
    check(("topo_schema", "topo_refuses"), topo, "stack/memcast-smi-topo.schema.json",
          [(topo, "devices"), (topo["devices"][0], "links"), (topo["devices"][3], "connections")])

page = ElementTree.parse(f"{FOLDER}/page.html")
text = "\n".join("".join(part.itertext()) for part in page.iter()
                 if part.tag.split("}")[1] in ("text", "p", "h3", "td", "title"))
wanted = [f"device {device['device']}" for device in state["devices"]]
wanted += [f"{process['pid']}\n" for process in state["processes"]]
wanted += [f"team {team['team']}: " for team in state["teams"]]
wanted += ["16 MiB of 64 MiB used", "24 MiB of 64 MiB used", "0 bytes of 64 MiB used",
           "16 MiB bound", "8 MiB bound", "nothing bound", "complete", "1 of 3 devices missing",
           "missing\ndevice 2 or 3", "in cuMulticastBindMem", "rank0", "rank1", "<b>&\"\ufffd'"]
lacks = [word for word in wanted if word not in text]
shows("page", not lacks, lacks)

# The page shows a binding in its member's bar, at its place in the team, and in the table.
mib = 1 << 20
whole, = [team for team in state["teams"] if team["devices"] == 2]
holders = {memory["memory"]: len(memory["pids"]) for memory in state["memories"]}
bound = [[(one["at"], one["from"], one["bytes"], holders[one["memory"]])
          for one in member["bindings"]]
         for member in whole["members"]]
bars = [(rect.get("width"), rect.find(SVG + "title").text.split(" of memory")[0])
        for rect in page.iter(SVG + "rect") if rect.get("class") == "bound"]
good = bound == [[(0, 0, 16 * mib, 2)], [(0, 4 * mib, 4 * mib, 1), (8 * mib, 0, 4 * mib, 1)]]
good &= bars == [("96.00", "at 0 bytes of the team: 16 MiB"),
                 ("24.00", "at 0 bytes of the team: 4 MiB"),
                 ("24.00", "at 8 MiB of the team: 4 MiB")]
good &= all(f"memory {one['memory']}, from {one['from'] // mib} "
            f"{'MiB' if one['from'] else 'bytes'} on\n" in text
            for member in whole["members"] for one in member["bindings"])
shows("bindings", good, (bound, bars, text))

# A piece lies where its memory has its chunks, as wide as they are, with a stripe for each holder.
pieces = {}
for group in page.iter(SVG + "g"):
    title = group.find(SVG + "title").text
    stripes = [rect for rect in group.findall(SVG + "rect") if rect.get("fill") != "none"]
    pieces[title.split(":")[0]] = [(float(one.get("x")), float(one.get("width")))
                                   for one in stripes]
wrong = []
whole = 630 / (64 << 20)
for memory in state["memories"]:
    wanted = [(110 + whole * place["at"], whole * place["bytes"])
              for place in memory["places"] for _ in memory["pids"]]
    drawn = pieces[f"memory {memory['memory']}"]
    if len(drawn) != len(wanted) or any(abs(a - b) > 0.1 for one, other in zip(drawn, wanted)
                                        for a, b in zip(one, other)):
        wrong.append((memory, drawn, wanted))
    if sum(place["bytes"] for place in memory["places"]) != memory["bytes"]:
        wrong.append(memory)
shows("pieces", not wrong and len(pieces) == len(state["memories"]) == 3, (wrong, pieces))
links = [link.get("href") for link in page.iter() if link.get("href")]
marks = ["#" + mark.get("id") for mark in page.iter() if mark.get("id")]
shows("links", links and set(links) <= set(marks), (links, marks))

# A character stands for one chunk of a pool, which has 32 chunks here.
letters = {process["pid"]: chr(ord("a") + i) for i, process in enumerate(state["processes"])}
names = {process["name"]: letters[process["pid"]] for process in state["processes"]}
chunk = 2 << 20
wanted = []
for device in state["devices"]:
    line = ["."] * 32
    for memory in state["memories"]:
        for place in memory["places"]:
            at, end = place["at"] // chunk, (place["at"] + place["bytes"]) // chunk
            if memory["where"] == str(device["device"]):
                shown = "+" if len(memory["pids"]) > 1 else letters[memory["pids"][0]]
                line[at:end] = [shown] * (end - at)
    used = (device["total"] - device["free"]) >> 20
    wanted.append(f"{device['device']:6}  {''.join(line)}  {used} of 64 MiB")
wanted.append("a character is 2 MiB at its place in the pool")
wanted += [f"{letters[process['pid']]} {process['pid']} " for process in state["processes"]]
with open(f"{FOLDER}/pool", encoding="utf-8") as file:
    pool = file.read()
lacks = [line for line in wanted if "\n" + line not in pool]
counts = [pool.split("\n\n")[0].count(letter) for letter in ("+", names["rank1"])]
shows("pool", not lacks and "\1" not in pool and counts == [8, 12], (lacks, counts, pool))
