package dev.troupe.cli.watch;

import dev.troupe.look.observe.RunObserver;
import dev.troupe.metrics.PrometheusText;
import dev.troupe.run.http.Routes;
import java.util.List;
import java.util.Optional;

/** The meters of this process's runs for Prometheus; without a port they do nothing. Any thread. */
public final class Meters {
    private final Optional<PrometheusText> text;

    private Meters(Optional<PrometheusText> text) {
        this.text = text;
    }

    /**
     * Returns the meters of a process.
     *
     * @param port on which it serves; 0: on none
     */
    public static Meters on(int port) {
        return new Meters(port == 0 ? Optional.empty() : Optional.of(new PrometheusText()));
    }

    public List<RunObserver> observers() {
        return text.map(PrometheusText::observer).stream().toList();
    }

    public Routes addTo(Routes routes) {
        return text.map(meters -> meters.addTo(routes)).orElse(routes);
    }
}
