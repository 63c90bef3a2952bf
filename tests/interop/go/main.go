// The official Go SDK, unmodified, against our hub; a test program that ./test counts like the
// others (--gtest_list_tests, --gtest_output=xml:FILE).
package main

import (
	"bufio"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azeventhubs/v2"
	"github.com/coder/websocket"
)

const suite = "GoSdk"

type hub struct {
	folder  string
	port    int // of plain AMQP; the same after a restart
	tls     int
	https   int
	process *exec.Cmd
}

func (h *hub) certificate() string { return filepath.Join(h.folder, "certificate.pem") }

func (h *hub) start() error {
	ready := filepath.Join(h.folder, "ready.json")
	os.Remove(ready)
	h.process = exec.Command(os.Getenv("EVENKEEL"), "dev", "--data", filepath.Join(h.folder, "data"),
		"--port", fmt.Sprint(h.port), "--http-port", "0", "--tls-port", "0", "--https-port", "0",
		"--certificate-file", h.certificate(), "--ready-file", ready, "--hub", "eh1:4", "--hub", "eh2:2")
	output, err := h.process.StdoutPipe()
	if err != nil {
		return err
	}
	if err := h.process.Start(); err != nil {
		return err
	}
	lines := bufio.NewScanner(output)
	for lines.Scan() && !strings.HasPrefix(lines.Text(), "Ctrl-C") {
	}
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); {
		bytes, err := os.ReadFile(ready)
		if err != nil {
			continue
		}
		var ports struct {
			Amqp  int `json:"amqp_port"`
			Amqps int `json:"amqps_port"`
			Https int `json:"https_port"`
		}
		if err := json.Unmarshal(bytes, &ports); err != nil {
			return err
		}
		h.port, h.tls, h.https = ports.Amqp, ports.Amqps, ports.Https
		return nil
	}
	return errors.New("the hub did not become ready")
}

func (h *hub) stop(signal os.Signal) {
	h.process.Process.Signal(signal)
	h.process.Wait()
}

func (h *hub) connectionString(key string) string {
	return fmt.Sprintf("Endpoint=sb://localhost:%d;SharedAccessKeyName=RootManageSharedAccessKey;"+
		"SharedAccessKey=%s;UseDevelopmentEmulator=true", h.port, key)
}

var quick = azeventhubs.RetryOptions{MaxRetries: 2, RetryDelay: 100 * time.Millisecond, MaxRetryDelay: time.Second}

func (h *hub) producer(name string) *azeventhubs.ProducerClient {
	client, err := azeventhubs.NewProducerClientFromConnectionString(h.connectionString("SAS_KEY_VALUE"), name,
		&azeventhubs.ProducerClientOptions{RetryOptions: quick})
	must(err)
	return client
}

func (h *hub) consumer(name string) *azeventhubs.ConsumerClient {
	client, err := azeventhubs.NewConsumerClientFromConnectionString(h.connectionString("SAS_KEY_VALUE"), name,
		azeventhubs.DefaultConsumerGroup, &azeventhubs.ConsumerClientOptions{RetryOptions: quick})
	must(err)
	return client
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func check(condition bool, format string, values ...any) {
	if !condition {
		panic(fmt.Sprintf(format, values...))
	}
}

func send(ctx context.Context, client *azeventhubs.ProducerClient, options *azeventhubs.EventDataBatchOptions, bodies ...string) {
	batch, err := client.NewEventDataBatch(ctx, options)
	must(err)
	for _, body := range bodies {
		must(batch.AddEventData(&azeventhubs.EventData{Body: []byte(body)}, nil))
	}
	must(client.SendEventDataBatch(ctx, batch, nil))
}

func receive(ctx context.Context, h *hub, name, partition string, start azeventhubs.StartPosition, count int) []*azeventhubs.ReceivedEventData {
	client := h.consumer(name)
	defer client.Close(ctx)
	return take(ctx, client, partition, start, count)
}

func take(ctx context.Context, client *azeventhubs.ConsumerClient, partition string, start azeventhubs.StartPosition, count int) []*azeventhubs.ReceivedEventData {
	reader, err := client.NewPartitionClient(partition, &azeventhubs.PartitionClientOptions{StartPosition: start})
	must(err)
	defer reader.Close(ctx)
	var events []*azeventhubs.ReceivedEventData
	for len(events) < count {
		batch, err := reader.ReceiveEvents(ctx, count-len(events), nil)
		must(err)
		events = append(events, batch...)
	}
	return events
}

func bodies(events []*azeventhubs.ReceivedEventData) string {
	var texts []string
	for _, event := range events {
		texts = append(texts, string(event.Body))
	}
	return strings.Join(texts, ",")
}

// secure says how a client reaches the hub by TLS or by a WebSocket over TLS, trusting its certificate.
func (h *hub) secure(port int) (connectionString string, trust *tls.Config) {
	pem, err := os.ReadFile(h.certificate())
	must(err)
	roots := x509.NewCertPool()
	check(roots.AppendCertsFromPEM(pem), "no certificate in %s", h.certificate())
	return fmt.Sprintf("Endpoint=sb://localhost:%d;SharedAccessKeyName=RootManageSharedAccessKey;"+
		"SharedAccessKey=SAS_KEY_VALUE", port), &tls.Config{RootCAs: roots, ServerName: "localhost"}
}

type dialer func(ctx context.Context, params azeventhubs.WebSocketConnParams) (net.Conn, error)

// passes sends an event and reads it back.
func (h *hub) passes(ctx context.Context, port int, dial dialer) {
	text, trust := h.secure(port)
	client, err := azeventhubs.NewProducerClientFromConnectionString(text, "eh1",
		&azeventhubs.ProducerClientOptions{RetryOptions: quick, TLSConfig: trust, NewWebSocketConn: dial})
	must(err)
	defer client.Close(ctx)
	body := fmt.Sprintf("by port %d", port)
	send(ctx, client, &azeventhubs.EventDataBatchOptions{PartitionID: to.Ptr("1")}, body)
	properties, err := client.GetPartitionProperties(ctx, "1", nil)
	must(err)
	reader, err := azeventhubs.NewConsumerClientFromConnectionString(text, "eh1", azeventhubs.DefaultConsumerGroup,
		&azeventhubs.ConsumerClientOptions{RetryOptions: quick, TLSConfig: trust, NewWebSocketConn: dial})
	must(err)
	defer reader.Close(ctx)
	last := azeventhubs.StartPosition{SequenceNumber: to.Ptr(properties.LastEnqueuedSequenceNumber), Inclusive: true}
	check(bodies(take(ctx, reader, "1", last, 1)) == body, "another body")
}

// poison is for malformed events and damaged records; see tests/interop/poison.
func poison(words ...string) {
	output, err := exec.Command(os.Getenv("POISON"), words...).CombinedOutput()
	check(err == nil, "%v: %s", err, output)
}

var earliest = azeventhubs.StartPosition{Earliest: to.Ptr(true)}

var tests = []struct {
	name string
	body func(ctx context.Context, h *hub)
}{
	{"hub_and_partition_properties_are_those_of_the_service", func(ctx context.Context, h *hub) {
		client := h.producer("eh1")
		defer client.Close(ctx)
		properties, err := client.GetEventHubProperties(ctx, nil)
		must(err)
		check(properties.Name == "eh1" && len(properties.PartitionIDs) == 4, "%v", properties)
		partition, err := client.GetPartitionProperties(ctx, "3", nil)
		must(err)
		check(partition.IsEmpty && partition.LastEnqueuedSequenceNumber == -1, "%v", partition)
	}},
	{"a_batch_arrives_whole_in_order", func(ctx context.Context, h *hub) {
		client := h.producer("eh1")
		defer client.Close(ctx)
		send(ctx, client, &azeventhubs.EventDataBatchOptions{PartitionID: to.Ptr("0")}, "a", "b", "c")
		events := receive(ctx, h, "eh1", "0", earliest, 3)
		check(bodies(events) == "a,b,c", "%s", bodies(events))
		for i, event := range events {
			check(event.SequenceNumber == int64(i), "number %d", event.SequenceNumber)
		}
	}},
	{"events_of_one_key_share_a_partition_and_carry_the_key", func(ctx context.Context, h *hub) {
		client := h.producer("eh2")
		defer client.Close(ctx)
		send(ctx, client, &azeventhubs.EventDataBatchOptions{PartitionKey: to.Ptr("alphabet")}, "x", "y")
		events := receive(ctx, h, "eh2", "0", earliest, 2)
		check(bodies(events) == "x,y" && *events[0].PartitionKey == "alphabet", "%s", bodies(events))
	}},
	{"a_large_event_passes_and_a_larger_one_is_refused", func(ctx context.Context, h *hub) {
		client := h.producer("eh1")
		defer client.Close(ctx)
		options := &azeventhubs.EventDataBatchOptions{PartitionID: to.Ptr("2")}
		send(ctx, client, options, strings.Repeat("x", 1_000_000))
		batch, err := client.NewEventDataBatch(ctx, options)
		must(err)
		err = batch.AddEventData(&azeventhubs.EventData{Body: make([]byte, 1_100_000)}, nil)
		check(errors.Is(err, azeventhubs.ErrEventDataTooLarge), "%v", err)
		check(len(receive(ctx, h, "eh1", "2", earliest, 1)[0].Body) == 1_000_000, "another size")
	}},
	{"reading_starts_at_every_kind_of_position", func(ctx context.Context, h *hub) {
		client := h.producer("eh1")
		defer client.Close(ctx)
		send(ctx, client, &azeventhubs.EventDataBatchOptions{PartitionID: to.Ptr("3")}, "0", "1", "2", "3", "4")
		all := receive(ctx, h, "eh1", "3", earliest, 5)
		at := func(position azeventhubs.StartPosition, count int) string {
			return bodies(receive(ctx, h, "eh1", "3", position, count))
		}
		check(at(azeventhubs.StartPosition{SequenceNumber: to.Ptr(int64(2))}, 2) == "3,4", "after a number")
		check(at(azeventhubs.StartPosition{SequenceNumber: to.Ptr(int64(2)), Inclusive: true}, 3) == "2,3,4", "at a number")
		check(at(azeventhubs.StartPosition{Offset: to.Ptr(all[1].Offset)}, 3) == "2,3,4", "after an offset")
		check(at(azeventhubs.StartPosition{Offset: to.Ptr(all[1].Offset), Inclusive: true}, 4) == "1,2,3,4", "at an offset")
		check(at(azeventhubs.StartPosition{EnqueuedTime: to.Ptr(all[0].EnqueuedTime.Add(-time.Second))}, 5) == "0,1,2,3,4", "after a time")
		latest := make(chan string)
		go func() {
			defer close(latest)
			defer func() { recover() }() // told by the closed channel
			latest <- at(azeventhubs.StartPosition{Latest: to.Ptr(true)}, 1)
		}()
		for came := false; !came; { // until the reader is there, events pass it by
			send(ctx, client, &azeventhubs.EventDataBatchOptions{PartitionID: to.Ptr("3")}, "new")
			select {
			case text := <-latest:
				check(text == "new", "the latest is '%s'", text)
				came = true
			default:
			}
		}
		consumer := h.consumer("eh1")
		defer consumer.Close(ctx)
		reader, err := consumer.NewPartitionClient("3", &azeventhubs.PartitionClientOptions{
			StartPosition: azeventhubs.StartPosition{SequenceNumber: to.Ptr(int64(1_000_000))}})
		must(err)
		defer reader.Close(ctx)
		_, err = reader.ReceiveEvents(ctx, 1, nil)
		check(err != nil && strings.Contains(err.Error(), "The supplied sequence number '1000000' is invalid"), "%v", err)
	}},
	{"a_higher_owner_level_takes_the_partition_over_and_a_lower_one_is_refused", func(ctx context.Context, h *hub) {
		client := h.consumer("eh1")
		defer client.Close(ctx)
		attach := func(level int64) (*azeventhubs.PartitionClient, error) {
			reader, err := client.NewPartitionClient("0", &azeventhubs.PartitionClientOptions{
				StartPosition: earliest, OwnerLevel: to.Ptr(level)})
			must(err)
			_, err = reader.ReceiveEvents(ctx, 1, nil)
			return reader, err
		}
		first, err := attach(1)
		must(err)
		defer first.Close(ctx)
		second, err := attach(2)
		must(err)
		defer second.Close(ctx)
		for err == nil {
			_, err = first.ReceiveEvents(ctx, 1, nil)
		}
		var lost *azeventhubs.Error
		check(errors.As(err, &lost) && lost.Code == azeventhubs.ErrorCodeOwnershipLost, "%v", err)
		third, err := attach(1)
		defer third.Close(ctx)
		check(err != nil && strings.Contains(err.Error(), "amqp:link:stolen"), "%v", err)
	}},
	{"the_sixth_reader_of_a_partition_is_refused", func(ctx context.Context, h *hub) {
		client := h.consumer("eh1")
		defer client.Close(ctx)
		for i := 0; ; i++ {
			reader, err := client.NewPartitionClient("0", &azeventhubs.PartitionClientOptions{StartPosition: earliest})
			must(err)
			defer reader.Close(ctx)
			_, err = reader.ReceiveEvents(ctx, 1, nil)
			if i == 5 {
				check(err != nil && strings.Contains(err.Error(), "consumer group which is 5"), "%v", err)
				return
			}
			must(err)
		}
	}},
	{"a_wrong_key_is_unauthorized", func(ctx context.Context, h *hub) {
		client, err := azeventhubs.NewProducerClientFromConnectionString(h.connectionString("WRONG"), "eh1",
			&azeventhubs.ProducerClientOptions{RetryOptions: azeventhubs.RetryOptions{MaxRetries: -1}})
		must(err)
		defer client.Close(ctx)
		_, err = client.GetEventHubProperties(ctx, nil)
		check(err != nil && strings.Contains(err.Error(), "401") && strings.Contains(err.Error(), "InvalidSignature"), "%v", err)
	}},
	{"events_pass_by_tls", func(ctx context.Context, h *hub) {
		h.passes(ctx, h.tls, nil)
	}},
	{"events_pass_by_websocket", func(ctx context.Context, h *hub) {
		_, trust := h.secure(h.https)
		h.passes(ctx, h.https, func(ctx context.Context, params azeventhubs.WebSocketConnParams) (net.Conn, error) {
			connection, _, err := websocket.Dial(ctx, params.Host, &websocket.DialOptions{
				Subprotocols: []string{"AMQPWSB10"},
				HTTPClient:   &http.Client{Transport: &http.Transport{TLSClientConfig: trust}}})
			if err != nil {
				return nil, err
			}
			return websocket.NetConn(context.Background(), connection, websocket.MessageBinary), nil
		})
	}},
	{"a_signature_for_a_host_without_a_scheme_is_accepted", func(ctx context.Context, h *hub) {
		// As the SDK's own CreateConnectionStringWithSASUsingExpiry, which is internal.
		for _, resource := range []string{fmt.Sprintf("localhost:%d", h.port), "localhost", "localhost/eh1"} {
			audience := strings.ToLower(url.QueryEscape(resource))
			expiry := fmt.Sprint(time.Now().Add(time.Hour).Unix())
			signer := hmac.New(sha256.New, []byte("SAS_KEY_VALUE"))
			signer.Write([]byte(audience + "\n" + expiry))
			signature := url.QueryEscape(base64.StdEncoding.EncodeToString(signer.Sum(nil)))
			text := fmt.Sprintf("Endpoint=sb://localhost:%d;SharedAccessSignature=SharedAccessSignature sr=%s&sig=%s&se=%s&skn=%s;"+
				"UseDevelopmentEmulator=true", h.port, audience, signature, expiry, "RootManageSharedAccessKey")
			client, err := azeventhubs.NewProducerClientFromConnectionString(text, "eh1",
				&azeventhubs.ProducerClientOptions{RetryOptions: azeventhubs.RetryOptions{MaxRetries: -1}})
			must(err)
			properties, err := client.GetEventHubProperties(ctx, nil)
			client.Close(ctx)
			check(err == nil && properties.Name == "eh1", "%s: %v", resource, err)
		}
	}},
	{"connects_that_are_cancelled_leave_the_hub_alone", func(ctx context.Context, h *hub) {
		text, trust := h.secure(h.tls)
		for i := 0; i < 40; i++ { // in the middle of TCP, TLS, SASL and what follows
			client, err := azeventhubs.NewProducerClientFromConnectionString(text, "eh1",
				&azeventhubs.ProducerClientOptions{RetryOptions: quick, TLSConfig: trust})
			must(err)
			soon, cancel := context.WithTimeout(ctx, time.Duration(i)*500*time.Microsecond)
			client.GetEventHubProperties(soon, nil)
			cancel()
			client.Close(ctx)
		}
		check(h.process.Process.Signal(syscall.Signal(0)) == nil, "the hub is gone")
		h.passes(ctx, h.tls, nil)
	}},
	{"malformed_events_are_refused_and_reading_goes_on", func(ctx context.Context, h *hub) {
		client := h.producer("eh1")
		defer client.Close(ctx)
		properties, err := client.GetPartitionProperties(ctx, "2", nil)
		must(err)
		poison("malformed", fmt.Sprint(h.port), "eh1", "2")
		send(ctx, client, &azeventhubs.EventDataBatchOptions{PartitionID: to.Ptr("2")}, "after")
		last := azeventhubs.StartPosition{SequenceNumber: to.Ptr(properties.LastEnqueuedSequenceNumber)}
		events := bodies(receive(ctx, h, "eh1", "2", last, 2))
		check(events == "behind the malformed,after", "%s", events)
	}},
	{"a_damaged_event_is_read_past", func(ctx context.Context, h *hub) {
		client := h.producer("eh1")
		properties, err := client.GetPartitionProperties(ctx, "2", nil)
		must(err)
		for _, body := range []string{"one", "damage", "three"} {
			send(ctx, client, &azeventhubs.EventDataBatchOptions{PartitionID: to.Ptr("2")}, body)
		}
		client.Close(ctx)
		h.stop(os.Interrupt)
		poison("damage", h.folder, "damage")
		must(h.start())
		last := properties.LastEnqueuedSequenceNumber
		for _, each := range []struct {
			number    int64
			inclusive bool
			expected  string
		}{{last, false, "one,three"}, {last + 1, false, "three"}, {last + 2, true, "three"}} {
			start := azeventhubs.StartPosition{SequenceNumber: to.Ptr(each.number), Inclusive: each.inclusive}
			events := bodies(receive(ctx, h, "eh1", "2", start, strings.Count(each.expected, ",")+1))
			check(events == each.expected, "from %d: %s", each.number, events)
		}
	}},
	{"after_the_hub_was_killed_clients_reconnect_and_nothing_is_lost", func(ctx context.Context, h *hub) {
		client, err := azeventhubs.NewProducerClientFromConnectionString(h.connectionString("SAS_KEY_VALUE"), "eh2",
			&azeventhubs.ProducerClientOptions{RetryOptions: azeventhubs.RetryOptions{
				MaxRetries: 20, RetryDelay: 100 * time.Millisecond, MaxRetryDelay: 500 * time.Millisecond}})
		must(err)
		defer client.Close(ctx)
		consumer := h.consumer("eh2")
		defer consumer.Close(ctx)
		reader, err := consumer.NewPartitionClient("1", &azeventhubs.PartitionClientOptions{StartPosition: earliest})
		must(err)
		defer reader.Close(ctx)
		var sent []string
		var seen []*azeventhubs.ReceivedEventData
		read := func() {
			for len(seen) < len(sent) {
				events, err := reader.ReceiveEvents(ctx, 1, nil)
				must(err)
				seen = append(seen, events...)
			}
		}
		for _, phase := range []string{"before", "after"} {
			for i := 0; i < 30; i++ {
				sent = append(sent, fmt.Sprintf("%s %d", phase, i))
				send(ctx, client, &azeventhubs.EventDataBatchOptions{PartitionID: to.Ptr("1")}, sent[len(sent)-1])
			}
			read()
			if phase == "before" {
				h.stop(os.Kill)
				must(h.start())
			}
		}
		check(bodies(receive(ctx, h, "eh2", "1", earliest, 60)) == strings.Join(sent, ","), "not what was sent")
		// One that was there all the time missed nothing, and got nothing twice.
		check(bodies(seen) == strings.Join(sent, ","), "%s", bodies(seen))
	}},
}

func run(body func(context.Context, *hub), h *hub) (why string) {
	defer func() {
		if caught := recover(); caught != nil {
			why = fmt.Sprint(caught)
		}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	body(ctx, h)
	return ""
}

func main() {
	report := ""
	for _, argument := range os.Args[1:] {
		if argument == "--gtest_list_tests" {
			fmt.Println(suite + ".")
			for _, test := range tests {
				fmt.Println("  " + test.name)
			}
			return
		}
		if path, found := strings.CutPrefix(argument, "--gtest_output=xml:"); found {
			report = path
		}
	}
	folder, err := os.MkdirTemp("", "evenkeel-interop-")
	must(err)
	defer os.RemoveAll(folder)
	h := &hub{folder: folder}
	must(h.start())
	var cases strings.Builder
	failures := 0
	for _, test := range tests {
		started := time.Now()
		why := run(test.body, h)
		seconds := time.Since(started).Seconds()
		failure := ""
		if why != "" {
			failures++
			var text strings.Builder
			xml.EscapeText(&text, []byte(why))
			failure = fmt.Sprintf(`<failure message="%s"/>`, text.String())
			fmt.Printf("[ FAILED ] %s.%s (%.2f s)\n%s\n", suite, test.name, seconds, why)
		} else {
			fmt.Printf("[     OK ] %s.%s (%.2f s)\n", suite, test.name, seconds)
		}
		fmt.Fprintf(&cases, `<testcase classname="%s" name="%s" status="run" time="%.3f">%s</testcase>`, suite, test.name, seconds, failure)
	}
	h.stop(os.Interrupt)
	if report != "" {
		os.MkdirAll(filepath.Dir(report), 0o755)
		text := fmt.Sprintf(`<testsuites><testsuite name="%s">%s</testsuite></testsuites>`, suite, cases.String())
		must(os.WriteFile(report, []byte(text+"\n"), 0o644))
	}
	if failures > 0 {
		os.Exit(1)
	}
}
