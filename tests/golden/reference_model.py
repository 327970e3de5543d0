"""The Transformer in PyTorch for make_model.py, from the equations of tx-paper(7), one sentence at a
time and with autograd's gradients. It shares nothing with lib/model but the names of the weights. All
random numbers are Philox4x32-10: weights by value(), dropout masks by Model.keep().
"""
import math

import numpy as np
import torch

U32 = np.uint64(0xFFFFFFFF)
DUMMY = 0xFFFFFFFF  # the pair of dummy sentences
SECOND = 1 << 31  # set in the pairs of the second pass of a consistency loss
GATES = {"swiglu": torch.nn.functional.silu, "geglu": torch.nn.functional.gelu,
         "geglu-tanh": lambda x: torch.nn.functional.gelu(x, approximate="tanh")}
ACTIVATIONS = {
    "relu": torch.relu, "gelu": torch.nn.functional.gelu, "silu": torch.nn.functional.silu,
    "gelu-tanh": lambda x: torch.nn.functional.gelu(x, approximate="tanh"),
    "gelu-sigmoid": lambda x: x * torch.sigmoid(1.702 * x)}


def philox(key0, key1, counter):
    """Blocks of four words, uint32 (..., 4), for counters given as four arrays or numbers."""
    c = [np.asarray(x, dtype=np.uint64) for x in np.broadcast_arrays(*counter)]
    for r in range(10):
        k0 = np.uint64((key0 + r * 0x9E3779B9) & 0xFFFFFFFF)
        k1 = np.uint64((key1 + r * 0xBB67AE85) & 0xFFFFFFFF)
        p0, p1 = np.uint64(0xD2511F53) * c[0], np.uint64(0xCD9E8D57) * c[2]
        c = [(p1 >> np.uint64(32)) ^ c[1] ^ k0, p1 & U32,
             (p0 >> np.uint64(32)) ^ c[3] ^ k1, p0 & U32]
    return np.stack(c, axis=-1).astype(np.uint32)


def fnv1a(text):
    h = 0x811C9DC5
    for byte in text.encode():
        h = ((h ^ byte) * 0x01000193) & 0xFFFFFFFF
    return h


def value(name, stream, count):
    """Element i: word i % 4 of the block with key (FNV-1a of the name, 1) and counter (i / 4,
    stream, 0, 0), as a number of [-1, 1). Stream 0 is the weight, 1 and up are probes."""
    words = philox(fnv1a(name), 1, (np.arange((count + 3) // 4), stream, 0, 0)).reshape(-1)[:count]
    return words.astype(np.float64) / 2**31 - 1


def shapes(c):
    """Every weight: name -> (shape, kind)."""
    d, group = c["d_model"], c["kv_heads"] or c["heads"]
    out = {}

    def attention(name):
        for part, o, i in (("q", c["heads"] * c["d_k"], d), ("k", group * c["d_k"], d),
                           ("v", group * c["d_v"], d), ("out", d, c["heads"] * c["d_v"])):
            out[f"{name}.{part}_proj.weight"] = ((o, i), "xavier")
            if c["attention_bias"] and (part != "out" or c["attention_output_bias"]):
                out[f"{name}.{part}_proj.bias"] = ((o,), "bias")
        if c["head_norm"] and name.endswith("self_attn"):
            out[f"{name}.q_norm.weight"] = out[f"{name}.k_norm.weight"] = ((c["d_k"],), "gain")

    def norm(name):
        if c["norm_type"] == "none":
            return
        out[f"{name}.weight"] = ((d,), "gain")
        if c["norm_type"] == "layer":
            out[f"{name}.bias"] = ((d,), "bias")

    if c["tie"] in ("all", "embeddings"):
        out["embedding.weight"] = ((c["target_vocabulary"], d), "embedding")
    else:
        out["encoder.embedding.weight"] = ((c["source_vocabulary"], d), "embedding")
        out["decoder.embedding.weight"] = ((c["target_vocabulary"], d), "embedding")
    if c["output_bias"]:
        out["output.bias"] = ((c["target_vocabulary"],), "bias")
    if c["tie"] in ("none", "embeddings"):
        out["output.weight"] = ((c["target_vocabulary"], d), "xavier")
    for stack in ("encoder", "decoder"):
        if c["positions"] == "relative":
            out[f"{stack}.distances.weight"] = ((c["heads"] * c["distance_buckets"],), "bias")
        if c["positions"] == "learned":
            out[f"{stack}.positions.weight"] = ((c["max_positions"], d), "embedding")
        for i in range(c[f"{stack}_layers"]):
            layer = f"{stack}.layers.{i}"
            recurrent = c["decoder_memory"] == "ssru" and stack == "decoder"
            if recurrent:
                out[f"{layer}.recurrence.in_proj.weight"] = ((d, d), "xavier")
                out[f"{layer}.recurrence.gate_proj.weight"] = ((d, d), "xavier")
                out[f"{layer}.recurrence.gate_proj.bias"] = ((d,), "bias")
                norm(f"{layer}.recurrence_norm")
            for kind in ((() if recurrent else ("self_attn",))
                         + (("cross_attn",) if stack == "decoder" else ())):
                attention(f"{layer}.{kind}")
                norm(f"{layer}.{kind}_norm")
            gate = (("gate", c["d_ff"], d),) if c["activation"] in GATES else ()
            for part, o, j in gate + (("in", c["d_ff"], d), ("out", d, c["d_ff"])):
                out[f"{layer}.ffn.{part}_proj.weight"] = ((o, j), "xavier")
                if c["feed_forward_bias"]:
                    out[f"{layer}.ffn.{part}_proj.bias"] = ((o,), "bias")
            norm(f"{layer}.ffn_norm")
        if c["embedding_norm"]:
            norm(f"{stack}.embedding_norm")
        if c["norm"] == "pre" or c["final_norm"]:
            norm(f"{stack}.norm")
    return out


def weights(c, dtype):
    out = {}
    for name, (shape, kind) in shapes(c).items():
        x = value(name, 0, math.prod(shape)).reshape(shape)
        if kind == "xavier":
            x = x * math.sqrt(6 / (shape[0] + shape[1]))
        elif kind == "embedding":
            x = x * math.sqrt(3 / shape[1])
        else:
            x = x * 0.25 + (1 if kind == "gain" else 0)
        out[name] = torch.tensor(x, dtype=dtype, requires_grad=True)
    return out


class Model:
    EMBEDDING, SELF, CROSS, FFN, IN_SELF, IN_CROSS, IN_FFN = range(7)  # roles of dropout sites

    def __init__(self, config, dtype):
        self.c, self.dtype, self.w = config, dtype, weights(config, dtype)
        self.step = 1

    def keep(self, p, site, pair, positions, x):
        """Dropout of x (positions, features): 16 bits an element, a word's low half first."""
        threshold = int(p * 65536 + 0.5)
        if threshold == 0:
            return x
        n, blocks = x.shape[1], (x.shape[1] + 7) // 8
        words = philox(self.c["seed"], site,
                       (self.step, pair, np.arange(positions)[:, None], np.arange(blocks)[None, :]))
        bits = np.stack([words & 0xFFFF, words >> 16], axis=-1).reshape(positions, -1)[:, :n]
        mask = np.where(bits < threshold, 0.0, 65536.0 / (65536 - threshold))
        return x * torch.tensor(mask, dtype=self.dtype)

    def site(self, stack, layer, role):
        return (stack == "decoder") << 15 | layer << 4 | role

    def linear(self, x, name):
        y = x @ self.w[name + ".weight"].T
        return y + self.w[name + ".bias"] if name + ".bias" in self.w else y

    def norm(self, x, name):
        if self.c["norm_type"] == "none":
            return x
        if self.c["norm_type"] == "rms":
            eps = self.c["norm_epsilon"]
            return torch.nn.functional.rms_norm(x, x.shape[-1:], self.w[name + ".weight"], eps)
        mean = x.mean(-1, keepdim=True)
        variance = ((x - mean) ** 2).mean(-1, keepdim=True)
        x = (x - mean) / torch.sqrt(variance + self.c["norm_epsilon"])
        return x * self.w[name + ".weight"] + self.w[name + ".bias"]

    def embed(self, stack, ids, pair):
        n, d, c = len(ids), self.c["d_model"], self.c
        shared = c["tie"] in ("all", "embeddings")
        x = self.w["embedding.weight" if shared else f"{stack}.embedding.weight"][torch.tensor(ids)]
        if c["scaled_embeddings"]:
            x = x * math.sqrt(d)
        if c["decoder_memory"] == "ssru" and stack == "decoder":
            x = x * (torch.tensor(ids) != 2)[:, None]  # <s> has no vector
        if pair & SECOND and c.get("cutoff"):
            x = x * torch.tensor(self.kept(stack, pair, n))[:, None]
        at = np.arange(n)[:, None] + c["position_offset"]
        if c["positions"] == "learned":
            x = x + self.w[f"{stack}.positions.weight"][c["position_offset"]:][:n]
        elif c["positions"] == "sinusoid":
            angle = at / 10000.0 ** (np.arange(0, d, 2)[None, :] / d)
            positions = np.stack([np.sin(angle), np.cos(angle)], axis=-1).reshape(n, d)
            x = x + torch.tensor(positions, dtype=self.dtype)
        elif c["positions"] in ("halves", "fairseq"):
            last = d // 2 - (c["positions"] == "fairseq")
            angle = at * np.exp(-np.log(10000.0) * np.arange(d // 2) / last)[None, :]
            positions = np.concatenate([np.sin(angle), np.cos(angle)], axis=1)
            x = x + torch.tensor(positions, dtype=self.dtype)
        if c["embedding_norm"]:
            x = self.norm(x, f"{stack}.embedding_norm")
        return self.keep(c["dropout"], self.site(stack, 0, self.EMBEDDING), pair, n, x)

    def kept(self, stack, pair, n):
        """0 for the rows of a second pass that have no token."""
        words = philox(self.c["seed"], 0x63757473, (0, pair, np.arange(n), int(stack == "decoder")))
        return (words[:, 0] >= int(self.c["cutoff"] * 2**32)).astype(np.float64)

    def frequencies(self):
        """Angles per position of rotary positions, by the functions of Hugging Face's models."""
        c = self.c
        base, factor = c["rotary_base"], c["rotary_factor"]
        if c["rotary_scaling"] == "ntk":
            base = base * factor ** (c["d_k"] / (c["d_k"] - 2))
        f = 1.0 / base ** (np.arange(0, c["d_k"], 2) / c["d_k"])
        if c["rotary_scaling"] == "linear":
            f = f / factor
        if c["rotary_scaling"] == "llama3":
            low, high, length = c["rotary_low"], c["rotary_high"], c["rotary_length"]
            wave = 2 * math.pi / f
            smooth = (length / wave - low) / (high - low)
            middle = (1 - smooth) / factor * f + smooth * f
            f = np.where(wave > length / low, f / factor, np.where(wave < length / high, f, middle))
        return f

    def turned(self, x):
        """One head's queries or keys (positions, d_k): complex numbers times exp(i angle)."""
        half = x.shape[1] // 2
        angle = np.arange(len(x))[:, None] * self.frequencies()[None, :]
        turn = torch.tensor(np.exp(1j * angle))
        z = torch.complex(x[:, :half].double(), x[:, half:].double()) * turn
        return torch.cat([z.real, z.imag], dim=1).to(self.dtype)

    def slope(self, head):
        n = self.c["heads"]
        power = 2 ** int(math.log2(n))
        slopes = [2 ** (-8 * (i + 1) / power) for i in range(power)]
        slopes += [2 ** (-8 * (i + 1) / (2 * power)) for i in range(2 * power)][::2][:n - power]
        return slopes[head]

    def distance_bias(self, head, n, causal):
        """T5's bias of scores (n, n) by the distance of the key from the query, by buckets."""
        c = self.c
        buckets, name = c["distance_buckets"], "decoder" if causal else "encoder"
        apart = torch.arange(n)[None, :] - torch.arange(n)[:, None]
        base = 0
        if causal:
            apart = (-apart).clamp(min=0)
        else:
            buckets //= 2
            base, apart = (apart > 0) * buckets, apart.abs()
        exact = buckets // 2
        far = exact + (torch.log(apart.clamp(min=1).float() / exact)
                       / math.log(c["distance_reach"] / exact) * (buckets - exact)).long()
        bucket = base + torch.where(apart < exact, apart, far.clamp(max=buckets - 1))
        table = self.w[f"{name}.distances.weight"].reshape(c["heads"], c["distance_buckets"])
        return table[head][bucket]

    def attention(self, x, memory, name, site, causal, pair):
        c, heads, own = self.c, [], memory is x
        group = c["heads"] // (c["kv_heads"] or c["heads"])
        q, k, v = (self.linear(y, f"{name}.{part}_proj")
                   for y, part in ((x, "q"), (memory, "k"), (memory, "v")))
        for h in range(c["heads"]):
            g = h // group
            qh, kh = q[:, h * c["d_k"]:(h + 1) * c["d_k"]], k[:, g * c["d_k"]:(g + 1) * c["d_k"]]
            if own and c["head_norm"]:
                qh, kh = (torch.nn.functional.rms_norm(y, y.shape[-1:], self.w[f"{name}.{part}_norm.weight"],
                                                       c["norm_epsilon"])
                          for y, part in ((qh, "q"), (kh, "k")))
            if own and c["positions"] == "rotary":
                qh, kh = self.turned(qh), self.turned(kh)
            scores = qh @ kh.T / (math.sqrt(c["d_k"]) if c["scaled_attention"] else 1)
            apart = (torch.arange(len(x))[:, None] - torch.arange(len(memory))[None, :]).abs()
            if own and c["positions"] == "alibi":
                scores = scores - self.slope(h) * apart
            if own and c["positions"] == "relative":
                scores = scores + self.distance_bias(h, len(x), causal)
            if own and c["window"]:
                scores = scores.masked_fill(apart >= c["window"], -math.inf)
            if causal:
                scores = scores.masked_fill(torch.ones_like(scores).triu(1) > 0, -math.inf)
            a = torch.softmax(scores, dim=-1)
            a = self.keep(c["attention_dropout"], site + (h << 16), pair, len(x), a)
            heads.append(a @ v[:, g * c["d_v"]:(g + 1) * c["d_v"]])
        return self.linear(torch.cat(heads, dim=1), name + ".out_proj")

    def recurrence(self, x, name):
        """SSRU (Kim et al., 2019), one position after another."""
        u, gate = self.linear(x, name + ".in_proj"), self.linear(x, name + ".gate_proj")
        cell, cells = torch.zeros_like(u[0]), []
        for t in range(len(x)):
            s = torch.sigmoid(gate[t])
            cell = s * cell + (1 - s) * u[t]
            cells.append(cell)
        return torch.relu(torch.stack(cells))

    def feed_forward(self, x, name, site, pair):
        inner = self.linear(x, name + ".in_proj")
        f = self.c["activation"]
        if f in GATES:
            inner = GATES[f](self.linear(x, name + ".gate_proj")) * inner
        else:
            inner = ACTIVATIONS[f](inner)
        inner = self.keep(self.c["relu_dropout"], site, pair, len(x), inner)
        return self.linear(inner, name + ".out_proj")

    def sublayer(self, x, norm, site, pair, f):
        pre = self.c["norm"] == "pre"
        y = f(self.norm(x, norm) if pre else x)
        y = self.keep(self.c["dropout"], site, pair, len(x), y)
        x = x + y if self.c["residual"] else y
        return x if pre else self.norm(x, norm)

    def stack(self, stack, ids, pair, memory=None):
        x = self.embed(stack, ids, pair)
        for i in range(self.c[f"{stack}_layers"]):
            layer = f"{stack}.layers.{i}"
            at = [self.site(stack, i, role) for role in range(7)]
            if stack == "decoder" and self.c["decoder_memory"] == "ssru":
                x = self.sublayer(x, layer + ".recurrence_norm", at[self.SELF], pair,
                                  lambda y: self.recurrence(y, layer + ".recurrence"))
            else:
                x = self.sublayer(x, layer + ".self_attn_norm", at[self.SELF], pair,
                                  lambda y: self.attention(y, y, layer + ".self_attn",
                                                           at[self.IN_SELF], stack == "decoder", pair))
            if memory is not None:
                x = self.sublayer(x, layer + ".cross_attn_norm", at[self.CROSS], pair,
                                  lambda y: self.attention(y, memory, layer + ".cross_attn",
                                                           at[self.IN_CROSS], False, pair))
            x = self.sublayer(x, layer + ".ffn_norm", at[self.FFN], pair,
                              lambda y: self.feed_forward(y, layer + ".ffn", at[self.IN_FFN], pair))
        return self.norm(x, stack + ".norm") if stack + ".norm.weight" in self.w else x

    def logits(self, sentence):
        memory = self.stack("encoder", sentence["source"], sentence["pair"])
        x = self.stack("decoder", sentence["target"], sentence["pair"], memory)
        output = {"all": "embedding", "embeddings": "output", "target": "decoder.embedding",
                  "none": "output"}
        x = x @ self.w[output[self.c["tie"]] + ".weight"].T
        return x + self.w["output.bias"] if self.c["output_bias"] else x

    def loss(self, batch):
        """Logits, and the sums over labels of smoothed loss and of plain -log p."""
        total, nll, rows = 0, 0, []
        for sentence in batch:
            rows.append(self.logits(sentence))
            if sentence["pair"] == DUMMY:
                continue
            logp = torch.log_softmax(rows[-1], dim=-1)
            label = logp.gather(1, torch.tensor(sentence["labels"])[:, None]).sum()
            eps, vocabulary = self.c["label_smoothing"], self.c["target_vocabulary"]
            total = total - (1 - eps) * label - eps / (vocabulary - 1) * (logp.sum() - label)
            nll = nll - label
        return torch.cat(rows), total, nll

    def consistency_loss(self, batch):
        """What is minimised, and the sums over labels of the first pass's smoothed loss, its -log p
        and the KL terms without their weight."""
        objective, loss, nll, consistency = 0, 0, 0, 0
        for sentence in batch:
            if sentence["pair"] == DUMMY:
                continue
            second = {**sentence, "pair": sentence["pair"] ^ SECOND}
            logits, own, own_nll = self.loss([sentence])
            other_logits, other, _ = self.loss([second])
            p, q = torch.log_softmax(logits, dim=-1), torch.log_softmax(other_logits, dim=-1)
            kl = (p.exp() * (p - q)).sum()
            if self.c["consistency"] == "rdrop":
                kl = (kl + (q.exp() * (q - p)).sum()) / 2
                objective = objective + other
            objective = objective + own + self.c["consistency_weight"] * kl
            loss, nll, consistency = loss + own, nll + own_nll, consistency + kl
        return objective, loss, nll, consistency
