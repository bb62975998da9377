"""The teacher's vectors of every word and text: all-MiniLM-L6-v2 (Apache-2.0), from a local folder.

    python -m train.teacher CACHE MODEL_FOLDER [--device cuda]

MODEL_FOLDER holds config.json, model.safetensors and tokenizer.json. Writes
CACHE/teacher.npz. Needs torch and transformers.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import torch
from torch.nn.functional import normalize
from transformers import AutoModel, AutoTokenizer

# A question is short, a document is read a little further.
MAX_TOKENS = {
    "words": 16,
    "asked": 64,
    "plain": 64,
    "answer": 128,
    "dev_asked": 128,
    "dev_answer": 256,
}
MAX_CHARS = 900
BATCH = 512


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("cache", type=Path)
    parser.add_argument("model", type=Path)
    parser.add_argument("--device", default="cuda")
    args = parser.parse_args()

    texts = json.loads((args.cache / "texts.json").read_text(encoding="utf-8"))
    texts["words"] = (args.cache / "words.txt").read_text(encoding="utf-8").split("\n")
    tokenizer = AutoTokenizer.from_pretrained(args.model, local_files_only=True)
    model = AutoModel.from_pretrained(args.model, local_files_only=True).to(args.device).eval()
    vectors = {
        side: encode(model, tokenizer, of_side, MAX_TOKENS[side]) for side, of_side in texts.items()
    }
    np.savez(args.cache / "teacher.npz", **vectors)


@torch.no_grad()
def encode(model, tokenizer, texts: list[str], max_tokens: int) -> np.ndarray:
    """The mean of the token states of each text, made one long.

    Short texts together, to waste little on padding.
    """
    vectors = np.zeros((len(texts), model.config.hidden_size), np.float16)
    order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
    for start in range(0, len(order), BATCH):
        places = order[start : start + BATCH]
        batch = tokenizer(
            [texts[place][:MAX_CHARS] for place in places],
            padding=True,
            truncation=True,
            max_length=max_tokens,
            return_tensors="pt",
        ).to(model.device)
        states = model(**batch).last_hidden_state.float()
        mask = batch["attention_mask"][..., None]
        vectors[places] = (
            normalize((states * mask).sum(1) / mask.sum(1), dim=1).half().cpu().numpy()
        )
    return vectors


if __name__ == "__main__":
    main()
