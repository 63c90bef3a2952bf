import com.azure.core.amqp.AmqpRetryMode;
import com.azure.core.amqp.AmqpRetryOptions;
import com.azure.core.amqp.AmqpTransportType;
import com.azure.core.amqp.exception.AmqpErrorCondition;
import com.azure.core.amqp.exception.AmqpException;
import com.azure.messaging.eventhubs.EventData;
import com.azure.messaging.eventhubs.EventDataBatch;
import com.azure.messaging.eventhubs.EventHubBufferedProducerClientBuilder;
import com.azure.messaging.eventhubs.EventHubClientBuilder;
import com.azure.messaging.eventhubs.EventHubConsumerAsyncClient;
import com.azure.messaging.eventhubs.EventHubProducerClient;
import com.azure.messaging.eventhubs.models.CreateBatchOptions;
import com.azure.messaging.eventhubs.models.EventPosition;
import com.azure.messaging.eventhubs.models.PartitionEvent;
import com.azure.messaging.eventhubs.models.ReceiveOptions;
import com.azure.messaging.eventhubs.models.SendOptions;
import java.io.InputStream;
import java.nio.file.Files;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;

/** The official Java SDK, unmodified, against our hub. */
public final class Sdk {
    private static final Harness harness = new Harness("JavaSdk");

    private static AmqpRetryOptions retries(int count) {
        return new AmqpRetryOptions().setMode(AmqpRetryMode.FIXED).setMaxRetries(count)
                .setDelay(Duration.ofMillis(200)).setMaxDelay(Duration.ofSeconds(1)).setTryTimeout(Duration.ofSeconds(10));
    }

    private static EventHubClientBuilder builder(Hub hub, String name) {
        return new EventHubClientBuilder().connectionString(hub.connectionString("SAS_KEY_VALUE"), name)
                .consumerGroup("$Default").retryOptions(retries(1));
    }

    private static EventHubProducerClient producer(Hub hub, String name) {
        return builder(hub, name).buildProducerClient();
    }

    private static void send(EventHubProducerClient client, String partition, Collection<String> bodies) {
        EventDataBatch batch = client.createBatch(new CreateBatchOptions().setPartitionId(partition));
        for (String body : bodies) Harness.check(batch.tryAdd(new EventData(body)), "the batch is full");
        client.send(batch);
    }

    private static List<PartitionEvent> receive(EventHubClientBuilder builder, String partition, EventPosition position,
            int count, ReceiveOptions options) {
        EventHubConsumerAsyncClient client = builder.buildAsyncConsumerClient();
        try {
            return client.receiveFromPartition(partition, position, options).take(count).collectList()
                    .block(Duration.ofSeconds(30));
        } finally {
            client.close();
        }
    }

    private static List<EventData> receive(Hub hub, String name, String partition, EventPosition position, int count) {
        return receive(builder(hub, name), partition, position, count, new ReceiveOptions()).stream()
                .map(PartitionEvent::getData).collect(Collectors.toList());
    }

    private static List<String> bodies(List<EventData> events) {
        return events.stream().map(EventData::getBodyAsString).collect(Collectors.toList());
    }

    private static List<String> numbered(String prefix, int first, int end) {
        return IntStream.range(first, end).mapToObj(i -> prefix + i).collect(Collectors.toList());
    }

    /** A reader that stays: resolves `reads` with its first event and `ended` with its error. */
    private static final class Reader implements AutoCloseable {
        final CompletableFuture<PartitionEvent> reads = new CompletableFuture<>();
        final CompletableFuture<Throwable> ended = new CompletableFuture<>();
        private final EventHubConsumerAsyncClient client;
        private final Disposable subscription;

        Reader(EventHubClientBuilder builder, String partition, ReceiveOptions options) {
            client = builder.buildAsyncConsumerClient();
            subscription = client.receiveFromPartition(partition, EventPosition.earliest(), options)
                    .subscribe(reads::complete, error -> {
                        ended.complete(error);
                        reads.completeExceptionally(error);
                    });
        }

        PartitionEvent first() throws Exception {
            return reads.get(20, TimeUnit.SECONDS);
        }

        @Override
        public void close() {
            subscription.dispose();
            client.close();
        }
    }

    private static ReceiveOptions level(long value) {
        return new ReceiveOptions().setOwnerLevel(value);
    }

    /** The whole process trusts the hub's certificate, and nothing else, from here on. */
    private static void trust(Hub hub) throws Exception {
        KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
        store.load(null, null);
        try (InputStream file = Files.newInputStream(hub.certificate)) {
            store.setCertificateEntry("hub", CertificateFactory.getInstance("X.509").generateCertificate(file));
        }
        TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        factory.init(store);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, factory.getTrustManagers(), null);
        SSLContext.setDefault(context);
    }

    private static void passes(Hub hub, String port, AmqpTransportType transport) throws Exception {
        UnaryOperator<EventHubClientBuilder> by = made -> made.connectionString(hub.plainConnectionString(), "eh1")
                .customEndpointAddress("https://localhost:" + hub.port(port)).transportType(transport);
        String body = "by " + transport;
        try (EventHubProducerClient client = by.apply(builder(hub, "eh1")).buildProducerClient()) {
            send(client, "1", List.of(body));
            long last = client.getPartitionProperties("1").getLastEnqueuedSequenceNumber();
            List<PartitionEvent> got = receive(by.apply(builder(hub, "eh1")), "1",
                    EventPosition.fromSequenceNumber(last, true), 1, new ReceiveOptions());
            Harness.same(body, got.get(0).getData().getBodyAsString());
        }
    }

    private static void propertiesAndSending() {
        harness.test("hub_and_partition_properties_are_those_of_the_service", hub -> {
            try (EventHubProducerClient client = producer(hub, "eh1")) {
                var properties = client.getEventHubProperties();
                Harness.same("eh1", properties.getName());
                Harness.same(List.of("0", "1", "2", "3"), properties.getPartitionIds().stream().collect(Collectors.toList()));
                var partition = client.getPartitionProperties("3");
                Harness.check(partition.isEmpty(), "not empty");
                Harness.same(-1L, partition.getLastEnqueuedSequenceNumber());
                Harness.same("-1", partition.getLastEnqueuedOffset());
            }
        });
        harness.test("a_batch_arrives_whole_in_order_with_its_properties", hub -> {
            try (EventHubProducerClient client = producer(hub, "eh1")) {
                EventDataBatch batch = client.createBatch(new CreateBatchOptions().setPartitionId("0"));
                for (int i = 0; i < 100; ++i) {
                    EventData event = new EventData("event " + i).setMessageId("m" + i).setCorrelationId("c" + i)
                            .setContentType("text/plain");
                    event.getProperties().put("number", i);
                    Harness.check(batch.tryAdd(event), "the batch is full");
                }
                client.send(batch);
            }
            List<EventData> events = receive(hub, "eh1", "0", EventPosition.earliest(), 100);
            Harness.same(numbered("event ", 0, 100), bodies(events));
            for (int i = 0; i < 100; ++i) Harness.same((long) i, events.get(i).getSequenceNumber());
            Harness.same(7, events.get(7).getProperties().get("number"));
            Harness.same("m7", events.get(7).getMessageId());
            Harness.same("c7", events.get(7).getCorrelationId());
            Harness.same("text/plain", events.get(7).getContentType());
        });
        harness.test("a_single_event_and_events_of_one_key_arrive", hub -> {
            try (EventHubProducerClient client = producer(hub, "eh2")) {
                client.send(List.of(new EventData("single")), new SendOptions().setPartitionId("1"));
                for (int i = 0; i < 3; ++i) {
                    client.send(List.of(new EventData("key " + i)), new SendOptions().setPartitionKey("alphabet"));
                }
            }
            Harness.same(List.of("single"), bodies(receive(hub, "eh2", "1", EventPosition.earliest(), 1)));
            List<EventData> events = receive(hub, "eh2", "0", EventPosition.earliest(), 3);
            Harness.same(numbered("key ", 0, 3), bodies(events));
            for (EventData event : events) Harness.same("alphabet", event.getPartitionKey());
        });
        harness.test("a_large_event_passes_and_a_larger_one_is_too_large", hub -> {
            try (EventHubProducerClient client = producer(hub, "eh1")) {
                client.send(List.of(new EventData(new byte[1_000_000])), new SendOptions().setPartitionId("2"));
                AmqpException error = Harness.refused(AmqpException.class, () -> {
                    client.send(List.of(new EventData(new byte[1_100_000])), new SendOptions().setPartitionId("2"));
                    return null;
                });
                Harness.same(AmqpErrorCondition.LINK_PAYLOAD_SIZE_EXCEEDED, error.getErrorCondition());
                send(client, "2", List.of("the link still works"));
            }
            List<EventData> events = receive(hub, "eh1", "2", EventPosition.earliest(), 2);
            Harness.same(1_000_000, events.get(0).getBody().length);
            Harness.same("the link still works", events.get(1).getBodyAsString());
        });
        harness.test("a_buffered_producer_delivers_everything_in_order", hub -> {
            List<Throwable> failures = new CopyOnWriteArrayList<>();
            var client = new EventHubBufferedProducerClientBuilder()
                    .connectionString(hub.connectionString("SAS_KEY_VALUE"), "eh2").maxWaitTime(Duration.ofMillis(50))
                    .onSendBatchFailed(context -> failures.add(context.getThrowable())).onSendBatchSucceeded(context -> { })
                    .buildClient();
            for (int i = 0; i < 300; ++i) {
                client.enqueueEvent(new EventData("buffered " + i), new SendOptions().setPartitionId("1"));
            }
            client.flush();
            client.close();
            Harness.same(List.of(), failures);
            Harness.same(numbered("buffered ", 0, 300),
                    bodies(receive(hub, "eh2", "1", EventPosition.fromSequenceNumber(0), 300)));
        });
    }

    private static void reading() {
        harness.test("reading_starts_at_every_kind_of_position", hub -> {
            try (EventHubProducerClient client = producer(hub, "eh1")) {
                send(client, "3", numbered("", 0, 10));
                List<EventData> all = receive(hub, "eh1", "3", EventPosition.earliest(), 10);
                Harness.same(numbered("", 0, 10), bodies(all));
                Harness.same(numbered("", 5, 10), bodies(receive(hub, "eh1", "3", EventPosition.fromSequenceNumber(4), 5)));
                Harness.same(numbered("", 4, 10),
                        bodies(receive(hub, "eh1", "3", EventPosition.fromSequenceNumber(4, true), 6)));
                Harness.same(numbered("", 7, 10), bodies(receive(hub, "eh1", "3",
                        EventPosition.fromOffsetString(all.get(6).getOffsetString()), 3)));
                Harness.same(numbered("", 0, 10), bodies(receive(hub, "eh1", "3",
                        EventPosition.fromEnqueuedTime(all.get(0).getEnqueuedTime().minusSeconds(1)), 10)));
                var latest = CompletableFuture.supplyAsync(() -> receive(hub, "eh1", "3", EventPosition.latest(), 1));
                while (!latest.isDone()) send(client, "3", List.of("new"));  // until the reader is there
                Harness.same(List.of("new"), bodies(latest.get()));
                AmqpException error = Harness.refused(AmqpException.class,
                        () -> receive(hub, "eh1", "3", EventPosition.fromSequenceNumber(1_000_000), 1));
                Harness.same(AmqpErrorCondition.ARGUMENT_ERROR, error.getErrorCondition());
            }
        });
        harness.test("the_last_enqueued_event_is_told_to_those_who_ask", hub -> {
            var last = receive(builder(hub, "eh1"), "0", EventPosition.earliest(), 1,
                    new ReceiveOptions().setTrackLastEnqueuedEventProperties(true)).get(0).getLastEnqueuedEventProperties();
            Harness.same(99L, last.getSequenceNumber());
            Harness.check(last.getRetrievalTime() != null && last.getEnqueuedTime() != null, last);
        });
        harness.test("a_higher_owner_level_takes_the_partition_over_and_a_lower_one_is_refused", hub -> {
            try (Reader first = new Reader(builder(hub, "eh1"), "0", level(1))) {
                first.first();
                try (Reader second = new Reader(builder(hub, "eh1"), "0", level(2))) {
                    second.first();
                    AmqpException lost = (AmqpException) first.ended.get(20, TimeUnit.SECONDS);
                    Harness.same(AmqpErrorCondition.LINK_STOLEN, lost.getErrorCondition());
                    Harness.check(lost.getMessage().contains("with higher epoch of '2' is created"), lost);
                    AmqpException lower = Harness.refused(AmqpException.class, () ->
                            receive(builder(hub, "eh1"), "0", EventPosition.earliest(), 1, level(1)));
                    Harness.same(AmqpErrorCondition.LINK_STOLEN, lower.getErrorCondition());
                }
            }
        });
        harness.test("the_sixth_reader_of_a_partition_is_refused", hub -> {
            List<Reader> readers = new ArrayList<>();
            try {
                for (int i = 0; i < 5; ++i) {
                    readers.add(new Reader(builder(hub, "eh1"), "0", new ReceiveOptions()));
                    readers.get(i).first();
                }
                AmqpException error = Harness.refused(AmqpException.class,
                        () -> receive(hub, "eh1", "0", EventPosition.earliest(), 1));
                Harness.same(AmqpErrorCondition.RESOURCE_LIMIT_EXCEEDED, error.getErrorCondition());
            } finally {
                readers.forEach(Reader::close);
            }
        });
    }

    private static void errorsAndTransports() {
        harness.test("unknown_hub_group_and_partition_are_named_in_the_sdks_own_errors", hub -> {
            try (EventHubProducerClient missing = producer(hub, "nope"); EventHubProducerClient client = producer(hub, "eh1")) {
                AmqpException error = Harness.refused(AmqpException.class, missing::getEventHubProperties);
                Harness.same(AmqpErrorCondition.NOT_FOUND, error.getErrorCondition());
                AmqpException group = Harness.refused(AmqpException.class, () -> receive(builder(hub, "eh1")
                        .consumerGroup("nobody"), "0", EventPosition.earliest(), 1, new ReceiveOptions()));
                Harness.same(AmqpErrorCondition.NOT_FOUND, group.getErrorCondition());
                AmqpException partition = Harness.refused(AmqpException.class, () -> {
                    send(client, "99", List.of("x"));
                    return null;
                });
                Harness.same(AmqpErrorCondition.ARGUMENT_OUT_OF_RANGE_ERROR, partition.getErrorCondition());
            }
        });
        harness.test("a_wrong_key_is_unauthorized", hub -> {
            EventHubClientBuilder wrong = new EventHubClientBuilder().connectionString(hub.connectionString("WRONG"), "eh1")
                    .retryOptions(retries(0));
            try (EventHubProducerClient client = wrong.buildProducerClient()) {
                AmqpException error = Harness.refused(AmqpException.class, client::getEventHubProperties);
                Harness.check(error.getMessage().contains("InvalidSignature"), error);
                AmqpException sending = Harness.refused(AmqpException.class, () -> {
                    client.send(List.of(new EventData("x")));
                    return null;
                });
                Harness.check(sending.getMessage().contains("InvalidSignature"), sending);
            }
        });
        harness.test("events_pass_by_tls", hub -> {
            trust(hub);
            passes(hub, "amqps_port", AmqpTransportType.AMQP);
        });
        harness.test("events_pass_by_websocket", hub -> {
            trust(hub);
            passes(hub, "https_port", AmqpTransportType.AMQP_WEB_SOCKETS);
        });
        harness.test("malformed_events_are_refused_and_reading_goes_on", hub -> {
            try (EventHubProducerClient client = producer(hub, "eh1")) {
                long last = client.getPartitionProperties("2").getLastEnqueuedSequenceNumber();
                Hub.poison("malformed", String.valueOf(hub.port("amqp_port")), "eh1", "2");
                send(client, "2", List.of("after"));
                Harness.same(List.of("behind the malformed", "after"),
                        bodies(receive(hub, "eh1", "2", EventPosition.fromSequenceNumber(last), 2)));
            }
        });
        harness.test("a_damaged_event_is_read_past", hub -> {
            long last;
            try (EventHubProducerClient client = producer(hub, "eh1")) {
                last = client.getPartitionProperties("2").getLastEnqueuedSequenceNumber();
                for (String body : List.of("one", "damage", "three")) send(client, "2", List.of(body));
            }
            hub.stop();
            Hub.poison("damage", hub.folder.toString(), "damage");
            hub.start();
            Harness.same(List.of("one", "three"),
                    bodies(receive(hub, "eh1", "2", EventPosition.fromSequenceNumber(last), 2)));
            Harness.same(List.of("three"), bodies(receive(hub, "eh1", "2", EventPosition.fromSequenceNumber(last + 1), 1)));
            Harness.same(List.of("three"),
                    bodies(receive(hub, "eh1", "2", EventPosition.fromSequenceNumber(last + 2, true), 1)));
        });
        harness.test("after_the_hub_was_killed_clients_reconnect_and_nothing_is_lost", hub -> {
            List<String> sent = new ArrayList<>();
            EventHubConsumerAsyncClient reader = builder(hub, "eh2").retryOptions(retries(30)).buildAsyncConsumerClient();
            try (EventHubProducerClient client = builder(hub, "eh2").retryOptions(retries(30)).buildProducerClient()) {
                long before = client.getPartitionProperties("0").getLastEnqueuedSequenceNumber();
                // The SDK ends a subscription, without an error, when its connection is cut; its users
                // subscribe again behind what they have.
                AtomicLong seen = new AtomicLong(before);
                var read = Flux.defer(() -> reader.receiveFromPartition("0", EventPosition.fromSequenceNumber(seen.get())))
                        .map(PartitionEvent::getData).doOnNext(event -> seen.set(event.getSequenceNumber()))
                        .repeat().take(60).collectList().toFuture();
                for (String phase : List.of("before ", "after ")) {
                    for (int i = 0; i < 30; ++i) {
                        send(client, "0", List.of(phase + i));
                        sent.add(phase + i);
                    }
                    if (phase.equals("before ")) {
                        hub.kill();
                        hub.start();
                    }
                }
                List<EventData> events = receive(hub, "eh2", "0", EventPosition.fromSequenceNumber(before), 60);
                Harness.same(sent, bodies(events));
                for (int i = 0; i < 60; ++i) Harness.same(before + 1 + i, events.get(i).getSequenceNumber());
                // One that was reading all the time missed nothing, and got nothing twice.
                Harness.same(sent, bodies(read.get(30, TimeUnit.SECONDS)));
            } finally {
                reader.close();
            }
        });
    }

    public static void main(String[] arguments) throws Exception {
        propertiesAndSending();
        reading();
        errorsAndTransports();
        System.exit(harness.main(arguments));
    }
}
