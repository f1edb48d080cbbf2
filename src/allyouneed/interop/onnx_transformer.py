"""The Transformer as two graphs of ONNX: the encoder, and one step of the decoder.

The encoder's input is `source`, ids BS padded with pad. Its outputs are `may_look` BS and, for
every decoder layer, `memory_keys.0` … and `memory_values.0` … BHSK. The inputs of a step are these
outputs, `ids` B (each sentence's newest token), and `keys.0` … and `values.0` … BHTK of the steps
so far (T = 0 at first). Its outputs are `logits` BV, and keys and values of T + 1 steps as
`new_keys.0` … and `new_values.0` …

With SSRU in the decoder, a step takes `states.0` … BD (zeros at first) and `length`, the number of
steps so far, in place of keys and values, and returns `new_states.0` … and `new_length`.

B batch · S source length · T steps so far · D d_model · H heads · K head width · V vocabulary
"""

from torch import nn

from allyouneed.core.decoder import DecoderLayer, RecurrentDecoderLayer
from allyouneed.core.encoder import EncoderLayer
from allyouneed.core.transformer import Transformer
from allyouneed.interop import onnx_layers as layers
from allyouneed.interop.onnx_graph import Graph, WeightsFile

INT64 = 7  # ONNX's number for this type


def encoder_graph(model: Transformer, weights: WeightsFile) -> Graph:
    """The graph from source ids to the keys and values that decoder steps attend to."""
    g = Graph("encoder", weights)
    source_BS = g.input("source", "INT64", ("B", "S"))
    pad = g.constant(model.encoder.embeddings.pad, "int64")
    may_look_BS = g.op("Not", g.op("Equal", source_BS, pad))
    counted = g.op("CumSum", g.op("Cast", may_look_BS, to=INT64), g.constant(1, "int64"))
    one, zero = g.constant(1, "int64"), g.constant(0, "int64")
    positions_BS = g.op("Max", g.op("Sub", counted, one), zero)  # padding counts no position
    length = g.op("Gather", g.op("Shape", source_BS), one)
    rotations_S = g.op("Range", zero, length, one)
    may_look_B11S = g.op("Unsqueeze", may_look_BS, g.numbers(1, 2))
    x_BSD = layers.embed(g, model.encoder.embeddings, source_BS, positions_BS)
    for layer in model.encoder.layers:
        x_BSD = _encoder_layer(g, layer, x_BSD, may_look_B11S, rotations_S)
    x_BSD = layers.normalise(g, model.encoder.norm, x_BSD)
    g.output("may_look", may_look_BS, "BOOL", ("B", "S"))
    axes = ("B", model.config.heads, "S", model.config.width_of_head)
    for n, layer in enumerate(model.decoder.layers):
        assert isinstance(layer, DecoderLayer | RecurrentDecoderLayer)
        keys, values = layers.keys_values(g, layer.cross_attention, x_BSD, rotations_S)
        g.output(f"memory_keys.{n}", keys, "FLOAT", axes)
        g.output(f"memory_values.{n}", values, "FLOAT", axes)
    return g


def decoder_step_graph(model: Transformer, weights: WeightsFile) -> Graph:
    """The graph from each sentence's newest token to the logits of the next token."""
    g = Graph("decoder_step", weights)
    heads, width = model.config.heads, model.config.width_of_head
    ids_B = g.input("ids", "INT64", ("B",))
    may_look_BS = g.input("may_look", "BOOL", ("B", "S"))
    may_look_B11S = g.op("Unsqueeze", may_look_BS, g.numbers(1, 2))
    axes = ("B", heads, "S", width)
    memories = [_pair(g, "memory_", n, axes) for n in range(model.config.decoder_layers)]
    recurrent = model.config.decoder == "ssru"
    past = _states(g, model) if recurrent else _keys_and_values(g, model)
    length_1 = (
        g.input("length", "INT64", (1,))
        if recurrent
        else g.op("Gather", g.op("Shape", past[0][0]), g.numbers(2))
    )
    x_B1D = layers.embed(
        g, model.decoder.embeddings, g.op("Unsqueeze", ids_B, g.numbers(1)), length_1
    )
    for n, layer in enumerate(model.decoder.layers):
        if isinstance(layer, RecurrentDecoderLayer):
            x_B1D = _recurrence(g, layer, x_B1D, past[n], n)
        else:
            x_B1D = _self_attention(g, layer, x_B1D, past[n], length_1, n)
        x_B1D = _upper_sublayers(g, layer, x_B1D, memories[n], may_look_B11S, length_1)
    if recurrent:
        grown_1 = g.op("Add", length_1, g.numbers(1))
        g.output("new_length", grown_1, "INT64", (1,))
    x_BD = g.op("Squeeze", layers.normalise(g, model.decoder.norm, x_B1D), g.numbers(1))
    bias = [] if model.output.bias is None else [g.weight(model.output.bias)]
    logits_BV = g.op("Gemm", x_BD, g.weight(model.output.weight), *bias, transB=1)
    g.output("logits", logits_BV, "FLOAT", ("B", model.config.vocabulary))
    return g


def _keys_and_values(g: Graph, model: Transformer) -> list[tuple[str, ...]]:
    """The inputs with each layer's keys and values of the steps so far."""
    axes = ("B", model.config.heads, "T", model.config.width_of_head)
    return [_pair(g, "", n, axes) for n in range(model.config.decoder_layers)]


def _states(g: Graph, model: Transformer) -> list[tuple[str, ...]]:
    """The inputs with the state of each layer's recurrence."""
    axes = ("B", model.config.d_model)
    return [(g.input(f"states.{n}", "FLOAT", axes),) for n in range(model.config.decoder_layers)]


def _pair(g: Graph, kind: str, n: int, axes: tuple[str | int, ...]) -> tuple[str, ...]:
    return (
        g.input(f"{kind}keys.{n}", "FLOAT", axes),
        g.input(f"{kind}values.{n}", "FLOAT", axes),
    )


def _encoder_layer(g: Graph, layer: nn.Module, x: str, may_look: str, positions: str) -> str:
    assert isinstance(layer, EncoderLayer)

    def look(y: str) -> str:
        attention = layer.self_attention
        q = layers.queries(g, attention, y, positions)
        return layers.attend(
            g, attention, q, *layers.keys_values(g, attention, y, positions), may_look
        )

    x = layers.residual(g, layer.self_attention_residual, x, look)
    return layers.residual(
        g, layer.feed_forward_residual, x, lambda y: layers.feed_forward(g, layer.feed_forward, y)
    )


def _self_attention(
    g: Graph, layer: nn.Module, x: str, past: tuple[str, ...], position: str, n: int
) -> str:
    """The n-th layer's self-attention. All keys and values up to this step are outputs."""
    assert isinstance(layer, DecoderLayer)
    attention = layer.self_attention

    def look_back(y: str) -> str:
        new = layers.keys_values(g, attention, y, position)
        grown = [
            g.op("Concat", so_far, newest, axis=2) for so_far, newest in zip(past, new, strict=True)
        ]
        width = attention.W_Q.out_features // attention.heads
        for name, value in zip(("new_keys", "new_values"), grown, strict=True):
            g.output(f"{name}.{n}", value, "FLOAT", ("B", attention.heads, "T + 1", width))
        q = layers.queries(g, attention, y, position)
        return layers.attend(g, attention, q, grown[0], grown[1], None)

    return layers.residual(g, layer.self_attention_residual, x, look_back)


def _recurrence(
    g: Graph, layer: RecurrentDecoderLayer, x: str, past: tuple[str, ...], n: int
) -> str:
    """The n-th layer's recurrence. Its new state is an output."""

    def remember(y: str) -> str:
        result, state = layers.recurrence(g, layer.recurrence, y, past[0])
        g.output(f"new_states.{n}", state, "FLOAT", ("B", layer.recurrence.W.out_features))
        return result

    return layers.residual(g, layer.recurrence_residual, x, remember)


def _upper_sublayers(
    g: Graph, layer: nn.Module, x: str, memory: tuple[str, ...], may_look: str, position: str
) -> str:
    """Attention over the memory, and the feed-forward network."""
    assert isinstance(layer, DecoderLayer | RecurrentDecoderLayer)
    keys, values = memory

    def look_across(y: str) -> str:
        q = layers.queries(g, layer.cross_attention, y, position)
        return layers.attend(g, layer.cross_attention, q, keys, values, may_look)

    x = layers.residual(g, layer.cross_attention_residual, x, look_across)
    return layers.residual(
        g, layer.feed_forward_residual, x, lambda y: layers.feed_forward(g, layer.feed_forward, y)
    )
