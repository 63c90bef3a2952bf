// One processor instance of the Java SDK: tells its parent, line by line, what it handled.
//
//   java Worker CONNECTION STORAGE CONTAINER

import com.azure.messaging.eventhubs.CheckpointStore;
import com.azure.messaging.eventhubs.EventProcessorClient;
import com.azure.messaging.eventhubs.EventProcessorClientBuilder;
import com.azure.messaging.eventhubs.LoadBalancingStrategy;
import com.azure.messaging.eventhubs.checkpointstore.blob.BlobCheckpointStore;
import com.azure.messaging.eventhubs.models.Checkpoint;
import com.azure.messaging.eventhubs.models.EventContext;
import com.azure.messaging.eventhubs.models.EventPosition;
import com.azure.messaging.eventhubs.models.PartitionOwnership;
import com.azure.storage.blob.BlobContainerClientBuilder;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

public final class Worker {
    private static synchronized void tell(String line) {
        System.out.println(line);
        System.out.flush();
    }

    private static String quoted(String text) {
        return "\"" + text.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", " ") + "\"";
    }

    private static Duration milliseconds(String name, String fallback) {
        return Duration.ofMillis(Long.parseLong(System.getenv().getOrDefault(name, fallback)));
    }

    /** Puts the entries where those of the other SDKs are, whatever the emulator's host is. */
    private record Namespaced(CheckpointStore store, String name) implements CheckpointStore {
        @Override
        public Flux<PartitionOwnership> listOwnership(String namespace, String hub, String group) {
            return store.listOwnership(name, hub, group).map(each -> each.setFullyQualifiedNamespace(namespace));
        }

        @Override
        public Flux<PartitionOwnership> claimOwnership(List<PartitionOwnership> wanted) {
            wanted.forEach(each -> each.setFullyQualifiedNamespace(name));
            return store.claimOwnership(wanted);
        }

        @Override
        public Flux<Checkpoint> listCheckpoints(String namespace, String hub, String group) {
            return store.listCheckpoints(name, hub, group).map(each -> each.setFullyQualifiedNamespace(namespace));
        }

        @Override
        public Mono<Void> updateCheckpoint(Checkpoint checkpoint) {
            return store.updateCheckpoint(checkpoint.setFullyQualifiedNamespace(name));
        }
    }

    private static void handle(EventContext context) {
        tell("{\"handled\":[[" + quoted(context.getPartitionContext().getPartitionId()) + ","
            + context.getEventData().getSequenceNumber() + ","
            + quoted(context.getEventData().getBodyAsString().replace("\"", "")) + "]]}");
        context.updateCheckpoint();
    }

    public static void main(String[] arguments) throws InterruptedException {
        final var container = new BlobContainerClientBuilder().connectionString(arguments[1])
            .containerName(arguments[2]).buildAsyncClient();
        final String hub = System.getenv("EVENT_HUB");
        final Map<String, EventPosition> beginning = new HashMap<>();
        for (int partition = 0; partition < 32; ++partition) {
            beginning.put(String.valueOf(partition), EventPosition.earliest());
        }
        final EventProcessorClient processor = new EventProcessorClientBuilder()
            .connectionString(arguments[0], hub)
            .consumerGroup("$Default")
            .checkpointStore(new Namespaced(new BlobCheckpointStore(container), System.getenv("NAMESPACE")))
            .initialPartitionEventPosition(beginning)
            .loadBalancingStrategy(LoadBalancingStrategy.GREEDY)
            .loadBalancingUpdateInterval(milliseconds("BALANCE_MS", "30000"))
            .partitionOwnershipExpirationInterval(milliseconds("EXPIRY_MS", "120000"))
            .processEvent(Worker::handle)
            .processError(context -> tell("{\"error\":" + quoted("java: " + context.getThrowable()) + "}"))
            .buildEventProcessorClient();
        processor.start();
        new CountDownLatch(1).await(); // until it is killed
    }
}
