"""Exports of short runs, loaded by transformers, PEFT, tokenizers, safetensors and llama.cpp; started by run."""
import json
import pathlib
import shutil
import subprocess
import sys

import numpy
import peft
import safetensors
import safetensors.torch
import tokenizers
import torch
import transformers

ROOT, OUT = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
TOKENIZERS = ROOT / "stages/tokenizers/src/test/resources/tokenizers"
NODE_LLAMA_CPP = "3.21.1"
FAMILIES = {"gpt2": "gpt2", "llama": "llama3", "qwen2": "qwen", "qwen3": "qwen"}
GGUF_TYPES = ("f32", "f16", "bf16", "q8_0")
LENGTH, COUNT = 48, 12
TEXTS = ["It's 1234 o'clock, and\n\n the café is  closed: 你好!", "To be, or not to be", " \t\n x  y",
         "<|im_start|>user\nHi<|im_end|>"]
# float32 on both sides: other orders of sums.
LARGEST_DIFFERENCE = 2e-4
transformers.logging.set_verbosity_error()
rows, failures = [], []


def troupe(*arguments):
    done = subprocess.run([str(ROOT / "troupe"), *map(str, arguments)], capture_output=True, text=True, cwd=OUT)
    if done.returncode:
        sys.exit(f"troupe {' '.join(map(str, arguments))} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def row(family, what, library, found, is_right):
    rows.append((family, what, library, found, "yes" if is_right else "**no**"))
    if not is_right:
        failures.append((family, what, library, found))
    print("|", " | ".join(rows[-1]), "|", flush=True)


def own_logits(name, *arguments):
    file = OUT / f"{name}.safetensors"
    troupe("eval", *arguments, "-s", f"data.path={OUT / 'tokens.bin'}", "-s", f"model.sequence-length={LENGTH}",
           "--save-logits", file)
    return safetensors.torch.load_file(file)["logits"]


def their_logits(model):
    with torch.no_grad():
        return model(ids).logits[0].float()


def compare(family, what, library, model, expected, largest=LARGEST_DIFFERENCE):
    logits = their_logits(model)
    difference = float((logits - expected).abs().max())
    scale = float(expected.abs().max())
    row(family, what, library, f"largest difference of logits {difference:.1e} (of {scale:.1f})",
        difference <= largest * max(1, scale))


def written(model, prompt):
    tokens = list(prompt)
    for _ in range(COUNT):
        with torch.no_grad():
            tokens.append(int(model(torch.tensor([tokens])).logits[0, -1].argmax()))
    return tokens[len(prompt):]


def load(folder, **more):
    model, info = transformers.AutoModelForCausalLM.from_pretrained(folder, output_loading_info=True, **more)
    unexpected = {key: sorted(info[key]) for key in ("missing_keys", "unexpected_keys", "mismatched_keys") if info[key]}
    assert not unexpected, f"{folder}: {unexpected}"
    return model.eval()


def check_tokenizer(family, folder):
    strings = OUT / "strings.json"
    strings.write_text("".join(json.dumps(text) + "\n" for text in TEXTS), encoding="utf-8")
    printed = troupe("tokenize", "--tokenizer", folder, "--json-strings", strings)
    ours = [json.loads(line) for line in printed.splitlines()]
    library = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    theirs = [library.encode(text, add_special_tokens=False).ids for text in TEXTS]
    row(family, "tokenizer.json", "tokenizers", f"ids of {len(TEXTS)} texts", ours == theirs)
    auto = transformers.AutoTokenizer.from_pretrained(folder)
    row(family, "its files", "transformers", f"AutoTokenizer, ids of {len(TEXTS)} texts",
        [auto(text, add_special_tokens=False)["input_ids"] for text in TEXTS] == ours)


def check_family(family, form, requests):
    settings = {"model.family": family, "model.layers": 2, "model.hidden": 64, "model.heads": 4,
                "model.sequence-length": LENGTH, "data.tokenizer": TOKENIZERS / form, "training.steps": 4,
                "training.global-batch-size": 4, "training.microbatch-size": 2, "parallel.pipeline": 2,
                "data.cache": "none", "training.learning-rate.peak": 0.01}
    if family != "gpt2":
        settings["model.key-value-heads"] = 2
    run, full = OUT / f"{family}-run", OUT / f"{family}-full"
    troupe("train", *(part for key, value in settings.items() for part in ("-s", f"{key}={value}")), "--out", run)
    troupe("export", run, "--out", full)
    model = load(full, dtype=torch.float32)
    expected = own_logits(f"{family}-logits", "--from", run, "-s", f"model.vocabulary-size={model.config.vocab_size}")
    compare(family, "whole model", "transformers", model, expected)
    check_tokenizer(family, full)

    shards = OUT / f"{family}-shards"
    troupe("export", run, "--out", shards, "--shard-size", "100KB", "--precision", "bfloat16")
    files = sorted(shards.glob("*.safetensors"))
    names = set()
    for file in files:
        with safetensors.safe_open(file, "pt") as tensors:
            names.update(tensors.keys())
    index = json.loads((shards / "model.safetensors.index.json").read_text())["weight_map"]
    row(family, "bfloat16, in shards", "safetensors",
        f"{len(files)} files, {len(names)} tensors, as the index has them", names == set(index) and len(files) > 1)
    compare(family, "bfloat16, in shards", "transformers", load(shards, dtype=torch.float32), expected, 2e-2)

    tuned, adapters, merged = OUT / f"{family}-tuned", OUT / f"{family}-adapters", OUT / f"{family}-merged"
    troupe("train", "-s", f"model.from={full}", "-s", f"data.tokenizer={full}", "-s", "training.lora.rank=4",
           "-s", "training.lora.targets=[all-linear]", "-s", "training.steps=4", "-s", "training.global-batch-size=4",
           "-s", "training.microbatch-size=2", "-s", f"model.sequence-length={LENGTH}", "-s", "data.cache=none",
           "-s", "training.learning-rate.peak=0.01", "--out", tuned)
    troupe("export", tuned, "--out", adapters)
    troupe("export", tuned, "--out", merged, "--merge")
    after = own_logits(f"{family}-tuned-logits", "--from", tuned)
    moved = float((after - expected).abs().max())
    row(family, "adapters", "Troupe", f"move logits by {moved:.1e}", moved > 1e-2)
    adapted = peft.PeftModel.from_pretrained(load(full, dtype=torch.float32), adapters).eval()
    compare(family, "adapters", "PEFT", adapted, after)
    compare(family, "adapters, merged", "transformers", load(merged, dtype=torch.float32), after)

    prompt = ids[0, :8].tolist()
    auto = transformers.AutoTokenizer.from_pretrained(full)
    text_ids = (auto(TEXTS[0], add_special_tokens=False)["input_ids"],
                len(auto("x")["input_ids"]) > len(auto("x", add_special_tokens=False)["input_ids"]))
    for kind in GGUF_TYPES:
        file = OUT / f"{family}-{kind}"
        troupe("export", run, "--out", file, "--format", "gguf", "--type", kind)
        requests.append((family, f"GGUF {kind}", written(model, prompt), text_ids,
                         {"file": str(file / "model.gguf"), "text": TEXTS[0], "prompt": prompt, "count": COUNT}))
    file = OUT / f"{family}-merged-gguf"
    troupe("export", tuned, "--out", file, "--format", "gguf", "--type", "f32", "--merge")
    requests.append((family, "adapters, merged, GGUF f32", written(load(merged, dtype=torch.float32), prompt), text_ids,
                     {"file": str(file / "model.gguf"), "text": TEXTS[0], "prompt": prompt, "count": COUNT}))


def check_llama_cpp(requests):
    if not shutil.which("node") or not shutil.which("npm"):
        for family, what, *_ in requests:
            row(family, what, "llama.cpp", "not tried: there is no node and npm", False)
        return
    folder = OUT / "node"
    folder.mkdir()
    subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(folder),
                    f"node-llama-cpp@{NODE_LLAMA_CPP}"], check=True, stdout=subprocess.DEVNULL)
    file = OUT / "requests.json"
    file.write_text(json.dumps([request for *_, request in requests]))
    script = pathlib.Path(__file__).with_name("llama.mjs")
    done = subprocess.run(["node", str(script), str(folder / "node_modules"), str(file)], stdout=subprocess.PIPE,
                          text=True)
    answers = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    for (family, what, expected, text_ids, _), answer in zip(requests, answers):
        alike = next((i for i in range(COUNT) if answer["written"][i:i + 1] != [expected[i]]), COUNT)
        least = COUNT if what.endswith("f32") else 1
        is_same = (answer["tokens"], answer["beginning"]) == text_ids
        row(family, what, "llama.cpp", f"read as {answer['architecture']}; {alike} of {COUNT} tokens as transformers"
            f" writes them; ids of a text {'the same' if is_same else 'differ'}", alike >= least and is_same)
    for family, what, *_ in requests[len(answers):]:
        row(family, what, "llama.cpp", f"no answer (node ended with {done.returncode})", False)


tokens_of_test = [(7 * place + place * place) % 250 for place in range(LENGTH + 1)]
numpy.array(tokens_of_test, dtype="<u2").tofile(OUT / "tokens.bin")
ids = torch.tensor([tokens_of_test[:LENGTH]])
print("| family | file | read by | result | right |\n|---|---|---|---|---|", flush=True)
all_requests = []
for one, its_form in FAMILIES.items():
    check_family(one, its_form, all_requests)
check_llama_cpp(all_requests)
print(f"\ntorch {torch.__version__}, transformers {transformers.__version__}, PEFT {peft.__version__}, tokenizers"
      f" {tokenizers.__version__}, safetensors {safetensors.__version__}, node-llama-cpp {NODE_LLAMA_CPP}")
sys.exit(f"{len(failures)} of {len(rows)} rows are not right" if failures else 0)
