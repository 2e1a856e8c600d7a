#!/usr/bin/env python3
"""A model of the Llama shape beside torch and transformers: writes one with random weights, if the folder has none, and
continues a prompt with it, the likeliest token each time. The example does the same from the same files:

    python3 scripts/bench/language_model.py /tmp/model 64
    deno run -P=gpu examples/language_model/continue.ts /tmp/model 1,2,3,4,5,6,7,8 64
"""
import os
import sys
import time

import torch
from safetensors.torch import save_file
from transformers import LlamaConfig, LlamaForCausalLM

folder, count = sys.argv[1], int(sys.argv[2])
torch.manual_seed(1)
config = LlamaConfig(
    vocab_size=32000, hidden_size=2048, intermediate_size=5632, num_hidden_layers=22, num_attention_heads=32,
    num_key_value_heads=4, max_position_embeddings=2048, tie_word_embeddings=False, rms_norm_eps=1e-5)
with torch.device("cuda"):
    model = LlamaForCausalLM(config).to(torch.bfloat16).eval()
# Larger than a fresh model's, so that the likeliest token stands out.
with torch.no_grad():
    for parameter in model.parameters():
        if parameter.dim() > 1:
            parameter.mul_(4)
if not os.path.exists(os.path.join(folder, "model.safetensors")):
    os.makedirs(folder, exist_ok=True)
    config.save_pretrained(folder)
    save_file({name: t.contiguous() for name, t in model.state_dict().items()}, os.path.join(folder, "model.safetensors"))

tokens = torch.arange(1, 9, device="cuda").reshape(1, -1)


@torch.inference_mode()
def run():
    said, cache, x, start = [], None, tokens, None
    for i in range(count):
        out = model(x, past_key_values=cache, use_cache=True)
        cache, x = out.past_key_values, out.logits[:, -1:].argmax(-1)
        said.append(x.item())
        if i == 0:
            start = time.perf_counter()
    return said, (count - 1) / (time.perf_counter() - start)


run()
said, rate = run()
print(",".join(map(str, said)))
print(f"torch {torch.__version__}: {rate:.1f} tokens per second on {torch.cuda.get_device_name()}")
