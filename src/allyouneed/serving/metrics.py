"""The numbers that the service counts, for Prometheus. No address, key or text is ever a label."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from allyouneed.serving.queue import LaneBatch, Queue

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10)
DECODING = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2)
SIZES = (1, 2, 4, 8, 16, 32, 64)
TOKENS = (8, 16, 32, 64, 128, 256, 512, 1024)


class Metrics:
    """The counters of one service. HTTP goes by OpenTelemetry's names."""

    def __init__(self, queue: Queue) -> None:
        self.registry = CollectorRegistry()
        labels = ("http_request_method", "http_route", "http_response_status_code")
        self.request_seconds = Histogram(
            "http_server_request_duration_seconds",
            "Time of a request",
            labels,
            buckets=SECONDS,
            registry=self.registry,
        )
        self.active = 0  # requests that are being answered
        active = Gauge(
            "http_server_active_requests",
            "Requests that are being answered",
            registry=self.registry,
        )
        active.set_function(lambda: self.active)
        waiting = Gauge("allyouneed_queue_texts", "Sentences that wait", registry=self.registry)
        waiting.set_function(lambda: queue.sentences)
        tokens = Gauge("allyouneed_queue_tokens", "Source tokens that wait", registry=self.registry)
        tokens.set_function(lambda: queue.tokens)
        self.batch_texts = Histogram(
            "allyouneed_batch_texts", "Sentences of a batch", buckets=SIZES, registry=self.registry
        )
        self.batch_tokens = Histogram(
            "allyouneed_batch_tokens",
            "Source tokens of a batch",
            buckets=TOKENS,
            registry=self.registry,
        )
        self.decode_seconds = Histogram(
            "allyouneed_decode_seconds", "Time of a batch", buckets=DECODING, registry=self.registry
        )
        self.source_tokens = Counter(
            "allyouneed_source_tokens", "Source tokens translated", registry=self.registry
        )
        self.characters = Counter(
            "allyouneed_characters", "Characters translated", registry=self.registry
        )
        self.cancelled = Counter(
            "allyouneed_cancelled",
            "Sentences taken out of the queue: the client is gone, or the time was up",
            ("stage",),
            registry=self.registry,
        )
        self.rejected = Counter(
            "allyouneed_rejected",
            "Requests refused at once: no answer in time, the queue is full, a limit of a client "
            "or of connections",
            ("reason",),
            registry=self.registry,
        )
        self.model_loaded = Gauge(
            "allyouneed_model_loaded", "1 for each model", ("model",), registry=self.registry
        )

    def on_batch(self, batch: LaneBatch, seconds: float) -> None:
        """Counts a batch that was translated."""
        self.batch_texts.observe(len(batch.sentences))
        self.batch_tokens.observe(batch.tokens)
        self.decode_seconds.observe(seconds)
        self.source_tokens.inc(batch.tokens)

    def shown(self) -> bytes:
        """In Prometheus' text format."""
        return generate_latest(self.registry)
