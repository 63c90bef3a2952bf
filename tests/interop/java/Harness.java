import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/**
 * A test program in Java that ./test counts like the others: it lists its tests with
 * --gtest_list_tests and writes the report that --gtest_output=xml:FILE names.
 */
final class Harness {
    private static final int SECONDS_MAX = 60;
    private final Map<String, Body> tests = new LinkedHashMap<>();
    private final String suite;

    interface Body {
        void run(Hub hub) throws Exception;
    }

    Harness(String suite) {
        this.suite = suite;
    }

    void test(String name, Body body) {
        tests.put(name, body);
    }

    static void check(boolean condition, Object what) {
        if (!condition) throw new AssertionError(String.valueOf(what));
    }

    static void same(Object expected, Object actual) {
        check(expected.equals(actual), "expected " + expected + ", got " + actual);
    }

    /** What a call that must fail throws, if it is of the type. */
    static <T extends Throwable> T refused(Class<T> type, Callable<?> call) {
        try {
            call.call();
        } catch (Throwable error) {
            for (Throwable cause = error; cause != null; cause = cause.getCause()) {
                if (type.isInstance(cause)) return type.cast(cause);
            }
            throw new AssertionError("another error", error);
        }
        throw new AssertionError("it was not refused");
    }

    int main(String[] arguments) throws Exception {
        String report = "";
        for (String argument : arguments) {
            if (argument.startsWith("--gtest_output=xml:")) report = argument.substring("--gtest_output=xml:".length());
        }
        Hub hub = new Hub();
        hub.start();
        StringBuilder cases = new StringBuilder();
        int failures = 0;
        for (var test : tests.entrySet()) {
            long started = System.nanoTime();
            String why = run(test.getValue(), hub);
            double seconds = (System.nanoTime() - started) / 1e9;
            System.out.printf("[ %s ] %s.%s (%.2f s)%n%s", why.isEmpty() ? "    OK" : "FAILED", suite, test.getKey(),
                    seconds, why);
            if (!why.isEmpty()) ++failures;
            String failure = why.isEmpty() ? "" : "<failure message=\"" + escaped(why) + "\"/>";
            cases.append(String.format("<testcase classname=\"%s\" name=\"%s\" status=\"run\" time=\"%.3f\">%s</testcase>%n",
                    suite, test.getKey(), seconds, failure));
        }
        hub.remove();
        if (!report.isEmpty()) write(Path.of(report), cases);
        return failures == 0 ? 0 : 1;
    }

    private void write(Path file, StringBuilder cases) throws IOException {
        Files.createDirectories(file.getParent());
        Files.writeString(file, "<testsuites><testsuite name=\"" + suite + "\">" + cases + "</testsuite></testsuites>\n");
    }

    private static String run(Body body, Hub hub) {
        ExecutorService thread = Executors.newSingleThreadExecutor(task -> {
            Thread made = new Thread(task);
            made.setDaemon(true);
            return made;
        });
        try {
            thread.submit(() -> {
                body.run(hub);
                return null;
            }).get(SECONDS_MAX, TimeUnit.SECONDS);
            return "";
        } catch (Throwable error) {
            StringWriter text = new StringWriter();
            error.printStackTrace(new PrintWriter(text));
            return text.toString();
        } finally {
            thread.shutdownNow();
        }
    }

    private static String escaped(String text) {
        StringBuilder result = new StringBuilder();
        for (char c : text.toCharArray()) {
            if ("<>&\"\n\t".indexOf(c) >= 0) {
                result.append("&#").append((int) c).append(';');
            } else if (c >= ' ') {
                result.append(c);
            }
        }
        return result.toString();
    }
}
