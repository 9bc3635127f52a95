package dev.troupe.cli.model;

import dev.troupe.cli.stop.ExitCode;
import dev.troupe.cli.stop.StopRequests;
import dev.troupe.config.cluster.TlsSpec;
import dev.troupe.look.model.Generation;
import dev.troupe.look.model.GenerationQueue;
import dev.troupe.plan.UsageException;
import dev.troupe.run.cluster.tls.Certificates;
import dev.troupe.run.http.PageServer;
import dev.troupe.serve.ApiServer;
import dev.troupe.tokenizer.file.BoundedFile;
import dev.troupe.tokenizer.file.FileReason;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code troupe serve}: a model as an HTTP service with the paths of OpenAI. */
@Command(name = "serve", mixinStandardHelpOptions = true, description = {
        "Serves a model over HTTP with the paths of OpenAI: /v1/chat/completions, /v1/completions, /v1/models, also /health and /metrics, until Ctrl-C.",
        "On the loopback, unless --tls-certificate and --token-file are given."})
public final class ServeCommand implements Callable<Integer> {
    private static final int MOST_PORT = 65535;
    private static final int MOST_SLOTS = 1024;
    private static final int MOST_WAITING = 100_000;

    @Parameters(paramLabel = "DIR|RUN", description = "A model in Hugging Face layout with its tokenizer, or a run or checkpoint.")
    private Path model;

    @Option(names = "-s", paramLabel = "key=value", description = {
            "Sets one key, without troupe, such as engine.kind. May be repeated."})
    private List<String> settings = List.of();

    @Option(names = "--host", defaultValue = "127.0.0.1", paramLabel = "ADDRESS", description = {
            "The address. Default: 127.0.0.1."})
    private String host;

    @Option(names = "--port", defaultValue = "8080", paramLabel = "N", description = {
            "The port; 0: a free one. Default: 8080."})
    private int port;

    @Option(names = "--name", paramLabel = "NAME", description = {
            "The name of the model in requests. Default: the last part of DIR or RUN."})
    private String name;

    @Option(names = "--adapter", paramLabel = "NAME=DIR", description = {
            "An adapter of the model in PEFT's layout, or a run that trained one, and its name in requests. May be repeated."})
    private List<String> adapters = List.of();

    @Option(names = "--context", paramLabel = "N", description = {
            "The most tokens of a prompt and its text together; default: 2048, or the number of the model's positions."})
    private Integer context;

    @Option(names = "--slots", defaultValue = "4", paramLabel = "N", description = {
            "The most texts that are written at a time. Default: 4."})
    private int slots;

    @Option(names = "--queue", defaultValue = "64", paramLabel = "N", description = {
            "The most texts that wait for a slot; a request beyond gets status 429. Default: 64."})
    private int waiting;

    @Option(names = "--grace", defaultValue = "30", paramLabel = "SECONDS", description = {
            "The time in which texts may end after Ctrl-C. Default: 30."})
    private int grace;

    @Option(names = "--token-file", paramLabel = "FILE", description = {
            "A file with the token that each request has to bring as Authorization: Bearer TOKEN."})
    private Path tokenFile;

    @Option(names = "--tls-certificate", paramLabel = "FILE", description = "The certificate for HTTPS, in PEM.")
    private Path certificate;

    @Option(names = "--tls-key", paramLabel = "FILE", description = "Its RSA key, in PEM as PKCS#8.")
    private Path key;

    @Option(names = "--tls-authority", paramLabel = "FILE", description = "The certificate of its authority, in PEM.")
    private Path authority;

    private final PrintStream output = System.out;

    @Override
    public Integer call() throws InterruptedException {
        requireNumbers();
        Optional<TlsSpec> tls = tls();
        Optional<String> token = Optional.ofNullable(tokenFile).map(ServeCommand::token);
        if (!PageServer.LOOPBACK.contains(host) && (tls.isEmpty() || token.isEmpty())) {
            throw new UsageException("--host " + host + " is no address of the loopback, so --tls-certificate and"
                    + " --token-file are needed: other machines could use the model, and read what it answers");
        }
        InetSocketAddress address = new InetSocketAddress(host, port);
        if (address.isUnresolved()) {
            throw new UsageException("--host " + host + " must be an address of this machine, but has none");
        }
        try (StopRequests requests = StopRequests.listen(output, "The model is not served.",
                StopRequests.PATIENCE.plusSeconds(grace));
                Generation generation = Generation.of(model, settings, adapters())) {
            generation.notes().forEach(note -> System.err.println("Note: " + note + "."));
            int most = generation.context(context == null ? OptionalInt.empty() : OptionalInt.of(context), "--context");
            ApiServer.Settings served = new ApiServer.Settings(address, tls.map(Certificates::server), token, name());
            try (GenerationQueue queue = generation.open(most, slots, waiting)) {
                serve(requests, served, generation, queue, most);
            }
        }
        return ExitCode.DONE;
    }

    private void serve(StopRequests requests, ApiServer.Settings served, Generation generation, GenerationQueue queue,
            int most) throws InterruptedException {
        try (ApiServer server = ApiServer.open(served, generation, queue, most)) {
            Ending ending = new Ending(queue);
            requests.running(ending);
            output.println("Serving " + served.model() + " at " + server.address() + "/v1 (until Ctrl-C)");
            output.flush();
            ending.asked.await();
            if (!queue.drain(Duration.ofSeconds(grace))) {
                queue.close(); // answers in progress end with an error, which the server still sends
            }
        }
    }

    private void requireNumbers() {
        requireBetween("--port", port, 0, MOST_PORT);
        requireBetween("--slots", slots, 1, MOST_SLOTS);
        requireBetween("--queue", waiting, 0, MOST_WAITING);
        requireBetween("--grace", grace, 0, Integer.MAX_VALUE);
        if (context != null) {
            requireBetween("--context", context, 2, Integer.MAX_VALUE);
        }
    }

    private static void requireBetween(String option, int value, int least, int most) {
        if (value < least || value > most) {
            throw new UsageException(option + " must be from " + least + " to " + most + ", but is " + value);
        }
    }

    private Optional<TlsSpec> tls() {
        long given = Stream.of(certificate, key, authority).filter(file -> file != null).count();
        if (given == 0) {
            return Optional.empty();
        }
        if (given < 3) {
            throw new UsageException("HTTPS needs all of --tls-certificate, --tls-key and --tls-authority");
        }
        TlsSpec tls = new TlsSpec(certificate, key, authority);
        Certificates.requireSound(tls);
        return Optional.of(tls);
    }

    private static String token(Path file) {
        try {
            String token = BoundedFile.text(file).strip();
            if (token.isEmpty() || !token.chars().allMatch(character -> character > ' ' && character <= '~')) {
                throw new UsageException("--token-file " + file
                        + " must have one word of visible ASCII characters: openssl rand -hex 32 writes one");
            }
            return token;
        } catch (IOException unreadable) {
            throw new UsageException("--token-file " + file + " cannot be read: " + FileReason.of(unreadable),
                    unreadable);
        }
    }

    private Map<String, Path> adapters() {
        Map<String, Path> named = new LinkedHashMap<>();
        for (String adapter : adapters) {
            String[] parts = adapter.split("=", 2);
            if (parts.length < 2 || parts[0].isBlank() || parts[1].isBlank()) {
                throw new UsageException("--adapter must be NAME=DIR, but is " + adapter);
            }
            if (parts[0].equals(name()) || named.put(parts[0], Path.of(parts[1])) != null) {
                throw new UsageException("--adapter " + adapter + " must have a name of its own, but the name "
                        + parts[0] + " is taken: choose another");
            }
        }
        return named;
    }

    private String name() {
        return name != null ? name : model.toAbsolutePath().normalize().getFileName().toString();
    }

    /** The end of the service, by Ctrl-C. */
    private static final class Ending implements StopRequests.Stoppable {
        private final CountDownLatch asked = new CountDownLatch(1);
        private final GenerationQueue queue;

        Ending(GenerationQueue queue) {
            this.queue = queue;
        }

        @Override
        public void stop() {
            asked.countDown();
        }

        @Override
        public void stopNow() {
            queue.cancel();
            asked.countDown();
        }

        @Override
        public boolean answers() {
            return true;
        }
    }
}
