"""Layers: what they print, hold and start from is PyTorch's; what they compute is tested where it is implemented."""
import pytest

import jtensor

from .both import both, close, raised, same, warned

LAYERS = [
    "Linear(3, 4)", "Linear(3, 4, bias=False)", "Bilinear(2, 3, 4)", "Identity(1, a=2)", "Flatten()", "Unflatten(1, (2, 3))",
    "ReLU(True)", "ReLU()", "RReLU()", "Hardtanh(-2, 2)", "ReLU6()", "Sigmoid()", "Hardsigmoid()", "Tanh()", "SiLU(True)", "Mish()",
    "Hardswish(True)", "ELU(2.)", "CELU()", "SELU(inplace=True)", "GLU()", "GELU('tanh')", "Hardshrink()", "LeakyReLU(0.2, True)",
    "LogSigmoid()", "Softplus()", "Softshrink()", "PReLU(3)", "Softsign()", "Tanhshrink()", "Softmin()", "Softmax(1)", "Softmax2d()",
    "LogSoftmax(0)", "Threshold(1, 2)", "Dropout()", "Dropout1d(.1)", "Dropout2d(.1, True)", "Dropout3d()", "AlphaDropout()",
    "FeatureAlphaDropout()", "Embedding(5, 2, padding_idx=-1, max_norm=2.)", "EmbeddingBag(5, 2, mode='sum', padding_idx=0)",
    "BatchNorm1d(3)", "BatchNorm2d(3, affine=False)", "BatchNorm3d(3, track_running_stats=False)", "SyncBatchNorm(3, momentum=None)",
    "InstanceNorm1d(3)", "InstanceNorm2d(3, affine=True)", "LayerNorm((2, 3))", "LayerNorm(3, bias=False)", "GroupNorm(2, 4)",
    "RMSNorm(3)", "LocalResponseNorm(2)", "Conv1d(2, 4, 3)", "Conv2d(2, 4, (3, 2), stride=2, padding=1, dilation=2, groups=2)",
    "Conv2d(2, 4, 3, padding='same', padding_mode='circular', bias=False)", "Conv3d(1, 2, 1)", "ConvTranspose1d(2, 4, 3)",
    "ConvTranspose2d(2, 4, 3, stride=2, output_padding=1)", "ConvTranspose3d(2, 2, 1, groups=2)", "MaxPool1d(2)",
    "MaxPool2d(2, padding=1)", "MaxPool3d((1, 2, 2))", "MaxUnpool1d(2)", "MaxUnpool2d(2)", "AvgPool1d(2)", "AvgPool2d(2, 1)",
    "AvgPool3d(2)", "FractionalMaxPool2d(2, output_size=3)", "LPPool1d(2, 3)", "LPPool2d(2., 2)", "AdaptiveMaxPool1d(3)",
    "AdaptiveMaxPool2d((None, 2))", "AdaptiveAvgPool1d(1)", "AdaptiveAvgPool2d(2)", "AdaptiveAvgPool3d((1, None, 2))",
    "CircularPad1d(1)", "ConstantPad2d(1, 3.)", "ReflectionPad2d((1, 2, 3, 4))", "ReplicationPad3d(1)", "ZeroPad2d(2)",
    "PixelShuffle(2)", "PixelUnshuffle(2)", "ChannelShuffle(2)", "Fold((4, 4), 2)", "Unfold(2, padding=1)",
    "Upsample(scale_factor=2)", "Upsample((3, 4), mode='bilinear')", "UpsamplingNearest2d(scale_factor=2)", "PairwiseDistance()",
    "CosineSimilarity()", "RNN(3, 4, 2, 'relu')", "RNN(3, 4, bias=False)", "LSTM(3, 4, 2, bidirectional=True, proj_size=2)",
    "GRU(3, 4, batch_first=True, num_layers=2, dropout=.1)", "RNNCell(3, 4, nonlinearity='relu')", "LSTMCell(3, 4, bias=False)",
    "GRUCell(3, 4)", "MultiheadAttention(4, 2)", "MultiheadAttention(4, 2, kdim=3, vdim=5, bias=False, add_bias_kv=True)",
    "TransformerEncoderLayer(4, 2, 8)", "TransformerDecoderLayer(4, 2, 8, activation='gelu')", "L1Loss()", "NLLLoss()", "KLDivLoss()",
    "MSELoss(reduction='sum')", "BCELoss()", "CrossEntropyLoss(label_smoothing=.1)", "CTCLoss()", "HuberLoss(delta=2)",
    "TripletMarginLoss()", "AdaptiveLogSoftmaxWithLoss(8, 10, [2, 5])", "CrossMapLRN2d(2)",
]


@pytest.mark.parametrize("layer", LAYERS)
def test_construction(layer):
    """The same text, and from the same seed the same state, bit for bit."""
    def program(torch):
        made = eval(f"torch.nn.{layer}", {"torch": torch})
        return [repr(made), made.state_dict(), sorted(name for name in made.__constants__) if hasattr(made, "__constants__") else None]

    theirs, ours = both(program)
    assert ours == theirs


@pytest.mark.parametrize("layer", [
    "Linear(2, 3, bias=False)", "Conv2d(1, 2, 3)", "BatchNorm1d(3, affine=False)", "LayerNorm(3, bias=False)", "RMSNorm(3)",
    "GRUCell(2, 3, bias=False)", "MultiheadAttention(4, 2, kdim=3, vdim=5)"])
def test_a_class_sees_the_parameters_that_are_assigned_to_it(layer):
    name, _, arguments = layer.partition("(")

    def program(T):
        seen = []

        class Watched(getattr(T.nn, name)):
            def __setattr__(self, name, value):
                if isinstance(value, T.nn.Parameter):
                    seen.append(name)
                super().__setattr__(name, value)

            def register_parameter(self, name, param):
                seen.append(("registered", name, param is None))
                super().register_parameter(name, param)
        return eval(f"Watched({arguments}", {"Watched": Watched}) and seen
    same(program)


def test_transformer_text():
    same(lambda torch: repr(torch.nn.Transformer(4, 2, 2, 1, 8)))


BAD = [
    "Linear()", "Dropout(1.5)", "Conv2d(3, 4, 2, groups=2)", "Conv2d(2, 3, 2, groups=2)", "Conv2d(2, 2, 2, groups=0)",
    "Conv2d(2, 2, 2, padding='same', stride=2)", "ConvTranspose2d(2, 2, 2, padding_mode='reflect')", "GroupNorm(3, 4)",
    "Embedding(3, 2, padding_idx=3)", "Unflatten(1, 3)", "Unflatten(1, (1, 2.))", "Hardtanh(1, 0)", "LSTM(3, 4, dropout=2)",
    "LSTM(3, 4, proj_size=4)", "GRU(3, 4, proj_size=1)", "RNN(3, 4, nonlinearity='x')", "LSTM(0, 4)", "LSTM(3., 4)", "LSTM(3, 4, bias=1)",
    "MultiheadAttention(3, 2)", "MultiheadAttention(0, 2)", "MultiMarginLoss(p=3)", "HuberLoss(delta='a')", "TripletMarginLoss(margin=0)",
    "FractionalMaxPool2d(2)", "FractionalMaxPool2d(2, 2, .5)", "FractionalMaxPool2d(2, output_ratio=2.)", "FractionalMaxPool3d(0, 1)",
    "TransformerEncoderLayer(4, 2, activation='x')", "AdaptiveLogSoftmaxWithLoss(8, 10, [5, 2])", "Bilinear(0, 1, 1)",
]


@pytest.mark.parametrize("layer", BAD)
def test_bad_settings(layer):
    def program(torch):
        kind, text = raised(lambda: eval(f"torch.nn.{layer}", {"torch": torch}))
        return kind, text.replace("jtensor", "torch") if kind != "TypeError" or "__init__" not in text else ""

    same(program)


def test_warnings():
    def program(torch):
        nn, F = torch.nn, torch.nn.functional
        x = torch.ones(2, 3)
        return [warned(f) for f in (
            lambda: nn.LSTM(3, 4, dropout=.5), lambda: nn.MSELoss(size_average=False), lambda: nn.L1Loss(reduce=False),
            lambda: F.softmax(x), lambda: F.mse_loss(x, torch.ones(1, 3)), lambda: F.kl_div(x, x), lambda: nn.Hardtanh(min_value=-1.),
            lambda: F.dropout2d(torch.ones(2, 3, 4)), lambda: nn.init.xavier_normal(x), lambda: nn.init.kaiming_normal_(torch.ones(0, 2)),
            lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8), 1))]

    same(program)


def test_linear_and_losses():
    def program(torch):
        nn = torch.nn
        x, y = torch.randn(4, 3), torch.tensor([0, 1, 4, 2])
        net = nn.Sequential(nn.Linear(3, 8), nn.GELU(), nn.Linear(8, 5))
        out = net(x)
        like = out.detach()
        losses = [
            nn.CrossEntropyLoss()(out, y), nn.CrossEntropyLoss(label_smoothing=.2, weight=torch.arange(1., 6.))(out, y),
            nn.CrossEntropyLoss(reduction="sum", label_smoothing=.2, ignore_index=1)(out, y),
            nn.CrossEntropyLoss(label_smoothing=.1)(out, like.softmax(1)), nn.MSELoss()(out, like + 1), nn.L1Loss()(out, like * 2),
            nn.SmoothL1Loss(beta=.5)(out, like * 2), nn.HuberLoss()(out, like + 3), nn.BCEWithLogitsLoss()(out, (like > 0).float()),
            nn.KLDivLoss(reduction="batchmean")(out, like.softmax(1)), nn.PoissonNLLLoss(full=True)(out, like.abs() * 3),
            nn.GaussianNLLLoss()(out, like + 1, like.abs() + .5),
            nn.CosineEmbeddingLoss(margin=.1)(out, like + 1, torch.tensor([1, -1, 1, -1])),
            nn.HingeEmbeddingLoss()(out, (like > 0) * 2. - 1), nn.MarginRankingLoss(1.)(out[0], out[1], torch.ones(5)),
            nn.TripletMarginLoss(swap=True)(out, like + 1, like - 2), nn.MultiLabelSoftMarginLoss()(out, (like > 0).float())]
        sum(losses).backward()
        return [losses, [p.grad for p in net.parameters()]]

    close(program, rtol=2e-4, atol=2e-5)


def test_a_loss_of_probabilities_names_its_division():
    """PyTorch divides by a number there, which is another operator of its than ``/``."""
    def program(torch):
        scores, wanted = torch.randn(3, 4, requires_grad=True), torch.rand(3, 4)
        loss = torch.nn.functional.cross_entropy(scores, wanted, label_smoothing=.1)
        return repr(loss), loss.grad_fn.next_functions[0][0].name(), torch.autograd.grad(loss, scores)
    close(program)


def test_dropout_masks_are_pytorchs():
    def program(torch):
        nn, x = torch.nn, torch.arange(1., 25.).reshape(2, 3, 4)
        return [nn.Dropout(.3)(x), nn.Dropout1d(.5)(x), nn.Dropout(0.)(x), nn.Dropout(1.)(x), nn.Dropout().eval()(x),
                nn.Dropout(.4, inplace=True)(x.clone())]

    same(program)
    close(lambda torch: [torch.nn.AlphaDropout(.3)(torch.ones(5)), torch.nn.FeatureAlphaDropout(.5)(torch.ones(2, 3, 2))])


def test_recurrent_networks():
    def program(torch):
        nn, x, answers = torch.nn, torch.randn(3, 2, 3), []
        for kind, settings in (("LSTM", {"bidirectional": True}), ("GRU", {"num_layers": 2}), ("RNN", {"batch_first": True})):
            net = getattr(nn, kind)(3, 4, **settings)
            output, hidden = net(x)
            output.sum().backward()
            packed = nn.utils.rnn.pack_sequence([x[:2, 0], x[:, 1]], enforce_sorted=False)
            answers += [output, hidden, net.weight_hh_l0.grad, nn.utils.rnn.pad_packed_sequence(net(packed)[0]), net(x[:, 0])[0]]
        return answers + [nn.LSTMCell(3, 4)(x[0]), nn.GRUCell(3, 4)(x[0, 0]), nn.RNNCell(3, 4, nonlinearity="relu")(x[0])]

    close(program, rtol=2e-4, atol=2e-5)


def test_attention():
    def program(torch):
        nn, x = torch.nn, torch.randn(3, 2, 4)
        attention, causal = nn.MultiheadAttention(4, 2), nn.Transformer.generate_square_subsequent_mask(3)
        output, weights = attention(x, x, x, attn_mask=causal)
        output.sum().backward()
        padding = torch.tensor([[False, False, True], [False, False, False]])
        return [output, weights, attention.in_proj_weight.grad, attention(x, x + 1, x + 1, key_padding_mask=padding, need_weights=False)[0],
                attention(x[:, 0], x[:, 0], x[:, 0], average_attn_weights=False)]

    close(program, rtol=2e-4, atol=2e-5)


def test_errors_name_the_shapes():
    def program(torch):
        nn, F = torch.nn, torch.nn.functional
        return [raised(f) for f in (
            lambda: nn.BatchNorm2d(3)(torch.ones(2, 3)), lambda: F.nll_loss(torch.ones(3, 4), torch.tensor([0])),
            lambda: F.cross_entropy(torch.ones(3, 4), torch.ones(3, 4, dtype=torch.int64)),
            lambda: F.cross_entropy(torch.ones(2, 2), torch.ones(2), label_smoothing=3.),
            lambda: F.cross_entropy(torch.ones(2, 3), torch.ones(2)),
            lambda: nn.LSTM(3, 4)(torch.ones(2, 2, 5)), lambda: nn.LSTM(3, 4)(torch.ones(5)),
            lambda: nn.GRU(3, 4)(torch.ones(2, 2, 3), torch.ones(1, 1, 4)),
            lambda: nn.LSTMCell(3, 4)(torch.ones(2, 5)), lambda: F.one_hot(torch.tensor([-1])), lambda: F.one_hot(torch.tensor([3]), 2),
            lambda: F.dropout(torch.ones(1), 2.), lambda: F.mse_loss(torch.ones(1), torch.ones(1), reduction="x"),
            lambda: F.binary_cross_entropy(torch.ones(2), torch.ones(3)), lambda: F.pad(torch.ones(2), (1,)),
            lambda: F.scaled_dot_product_attention(torch.ones(2), torch.ones(2), torch.ones(2)),
            lambda: F.interpolate(torch.ones(1, 1, 2)), lambda: torch.dropout(torch.ones(1), 1.5, True),
            lambda: torch.feature_alpha_dropout(torch.ones(2, 2), -.5, False), lambda: torch.native_dropout(torch.ones(2), 1.5, True),
            lambda: F.affine_grid(torch.ones(1, 2, 3), (2, 1, 4, 4), align_corners=True),
            lambda: F.affine_grid(torch.ones(3, 3, 4), (1, 1, 4, 4, 4), align_corners=False))]

    same(program)


def test_frozen_embedding_starts_from_given_rows():
    table = jtensor.nn.Embedding.from_pretrained(jtensor.eye(3))
    assert not table.weight.requires_grad and table.weight.shape == (3, 3)


def test_a_bias_of_linear_that_is_no_vector():
    def program(torch):
        x = torch.arange(24.).view(2, 3, 4)
        answers = []
        for bias in ((), (1,), (1, 1), (5,), (1, 5), (3, 5), (2, 1, 5), (2, 3, 1)):
            for given in (x, x.transpose(0, 1), x[0, 0]):
                for dtype in (torch.float32, torch.float64):
                    try:
                        weight = torch.ones(5, 4, requires_grad=True)
                        y = torch.nn.functional.linear(given, weight, torch.ones(bias, dtype=dtype))
                        answers.append((y, type(y.grad_fn).__name__, y._version, y._is_view()))
                    except RuntimeError as error:
                        answers.append(str(error).splitlines()[0])
        return answers
    same(program)


def test_same_padding_of_even_kernels_warns_and_rrelu_has_one_node():
    def program(torch):
        layer, x = torch.nn.Conv1d(1, 1, 2, padding="same"), torch.ones(1, 1, 4)
        nodes = [torch.nn.functional.rrelu(x.clone().requires_grad_(), training=training).grad_fn.name() for training in (False, True)]
        return [text.split(" (Triggered")[0] for _, text in warned(lambda: layer(x))], nodes

    same(program)
