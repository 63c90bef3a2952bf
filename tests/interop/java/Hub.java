import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** {@code evenkeel dev} as a process of our own. */
final class Hub {
    final Path folder;
    final Path certificate;
    private int port;
    private String ready = "";
    private Process process;

    Hub() throws IOException {
        folder = Files.createTempDirectory("evenkeel-interop-");
        certificate = folder.resolve("certificate.pem");
    }

    /** Starts on a free port, or again on the one it had. */
    void start() throws IOException {
        Path file = folder.resolve("ready.json");
        Files.deleteIfExists(file);
        process = new ProcessBuilder(List.of(System.getenv("EVENKEEL"), "dev", "--data",
                folder.resolve("data").toString(), "--port", String.valueOf(port), "--http-port", "0",
                "--tls-port", "0", "--https-port", "0", "--certificate-file", certificate.toString(),
                "--ready-file", file.toString(), "--hub", "eh1:4", "--hub", "eh2:2"))
                .redirectErrorStream(true).start();
        BufferedReader output = process.inputReader();
        StringBuilder said = new StringBuilder();
        String line;
        while ((line = output.readLine()) != null && !line.startsWith("Ctrl-C")) {
            said.append(line).append('\n');
        }
        long deadline = System.nanoTime() + 20_000_000_000L;
        while (!Files.exists(file)) {
            if (!process.isAlive() || System.nanoTime() > deadline) {
                throw new IOException("the hub did not start: " + said);
            }
            Thread.onSpinWait();
        }
        ready = Files.readString(file);
        port = port("amqp_port");
    }

    int port(String name) {
        Matcher found = Pattern.compile('"' + name + "\"\\s*:\\s*(\\d+)").matcher(ready);
        if (!found.find()) throw new IllegalStateException(name + " is not in " + ready);
        return Integer.parseInt(found.group(1));
    }

    void kill() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }

    void stop() throws InterruptedException {
        process.destroy();
        process.waitFor();
    }

    /** Malformed events and damaged records; see tests/interop/poison. */
    static void poison(String... words) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(System.getenv("POISON")));
        command.addAll(List.of(words));
        Process helper = new ProcessBuilder(command).redirectErrorStream(true).start();
        String said = new String(helper.getInputStream().readAllBytes());
        if (helper.waitFor() != 0) throw new IllegalStateException(said);
    }

    void remove() throws IOException, InterruptedException {
        stop();
        try (var files = Files.walk(folder)) {
            files.sorted(Comparator.reverseOrder()).map(Path::toFile).forEach(File::delete);
        }
    }

    String connectionString(String key) {
        return "Endpoint=sb://localhost:" + port + ";SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey="
                + key + ";UseDevelopmentEmulator=true";
    }

    /** Of a service whose address is told apart. */
    String plainConnectionString() {
        return "Endpoint=sb://localhost;SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=SAS_KEY_VALUE";
    }
}
