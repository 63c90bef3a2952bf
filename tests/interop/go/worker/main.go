// One processor instance of the Go SDK: tells its parent, line by line, what it handled.
//
//	worker CONNECTION STORAGE CONTAINER
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azeventhubs/v2"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azeventhubs/v2/checkpoints"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
)

const group = "$default" // the SDK keeps the case of names; the others have them in lower case

var lock sync.Mutex

func tell(what map[string]any) {
	lock.Lock()
	defer lock.Unlock()
	if err := json.NewEncoder(os.Stdout).Encode(what); err != nil {
		os.Exit(1)
	}
}

func milliseconds(name string, fallback int64) time.Duration {
	value, err := strconv.ParseInt(os.Getenv(name), 10, 64)
	if err != nil {
		value = fallback
	}
	return time.Duration(value) * time.Millisecond
}

// namespaced puts the entries where those of the other SDKs are: this one keeps the emulator's port out
// of the namespace only in Azure.
type namespaced struct {
	*checkpoints.BlobStore
	name string
}

func (s namespaced) ClaimOwnership(ctx context.Context, wanted []azeventhubs.Ownership, options *azeventhubs.ClaimOwnershipOptions) ([]azeventhubs.Ownership, error) {
	moved := append([]azeventhubs.Ownership(nil), wanted...)
	for i := range moved {
		moved[i].FullyQualifiedNamespace = s.name
	}
	return s.BlobStore.ClaimOwnership(ctx, moved, options)
}

func (s namespaced) ListOwnership(ctx context.Context, _ string, hub string, group string, options *azeventhubs.ListOwnershipOptions) ([]azeventhubs.Ownership, error) {
	return s.BlobStore.ListOwnership(ctx, s.name, hub, group, options)
}

func (s namespaced) ListCheckpoints(ctx context.Context, _ string, hub string, group string, options *azeventhubs.ListCheckpointsOptions) ([]azeventhubs.Checkpoint, error) {
	return s.BlobStore.ListCheckpoints(ctx, s.name, hub, group, options)
}

func (s namespaced) SetCheckpoint(ctx context.Context, checkpoint azeventhubs.Checkpoint, options *azeventhubs.SetCheckpointOptions) error {
	checkpoint.FullyQualifiedNamespace = s.name
	return s.BlobStore.SetCheckpoint(ctx, checkpoint, options)
}

func handle(ctx context.Context, client *azeventhubs.ProcessorPartitionClient) error {
	defer client.Close(context.Background())
	for {
		waiting, cancel := context.WithTimeout(ctx, time.Second)
		events, err := client.ReceiveEvents(waiting, 20, nil)
		cancel()
		if err != nil && !errors.Is(err, context.DeadlineExceeded) {
			return err
		}
		if len(events) == 0 {
			continue
		}
		var handled [][]any
		for _, event := range events {
			handled = append(handled, []any{client.PartitionID(), event.SequenceNumber, string(event.Body)})
		}
		tell(map[string]any{"handled": handled})
		if err := client.UpdateCheckpoint(ctx, events[len(events)-1], nil); err != nil {
			return err
		}
	}
}

func run(connection, storage, name string) error {
	ctx := context.Background()
	blobs, err := container.NewClientFromConnectionString(storage, name, nil)
	if err != nil {
		return err
	}
	store, err := checkpoints.NewBlobStore(blobs, nil)
	if err != nil {
		return err
	}
	connection = strings.TrimSuffix(connection, ";") + ";EntityPath=" + os.Getenv("EVENT_HUB")
	consumer, err := azeventhubs.NewConsumerClientFromConnectionString(connection, "", group, nil)
	if err != nil {
		return err
	}
	earliest := true
	processor, err := azeventhubs.NewProcessor(consumer, namespaced{store, os.Getenv("NAMESPACE")}, &azeventhubs.ProcessorOptions{
		LoadBalancingStrategy:       azeventhubs.ProcessorStrategyGreedy,
		UpdateInterval:              milliseconds("BALANCE_MS", 10_000),
		PartitionExpirationDuration: milliseconds("EXPIRY_MS", 60_000),
		StartPositions:              azeventhubs.StartPositions{Default: azeventhubs.StartPosition{Earliest: &earliest}},
	})
	if err != nil {
		return err
	}
	go func() {
		for {
			client := processor.NextPartitionClient(ctx)
			if client == nil {
				return
			}
			go func() {
				if err := handle(ctx, client); err != nil {
					tell(map[string]any{"error": "go: " + err.Error()})
				}
			}()
		}
	}()
	return processor.Run(ctx)
}

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: worker CONNECTION STORAGE CONTAINER")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
