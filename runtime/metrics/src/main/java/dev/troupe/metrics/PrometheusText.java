package dev.troupe.metrics;

import dev.troupe.look.observe.RunObserver;
import dev.troupe.run.http.Answer;
import dev.troupe.run.http.Routes;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;

/**
 * The meters of this process's runs as Prometheus text at {@code /metrics}, in their own registry. It needs {@code
 * micrometer-registry-prometheus}. Thread rule: any thread.
 */
public final class PrometheusText {
    /** The default path of Prometheus. */
    public static final String PATH = "/metrics";

    private static final String CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);

    public RunObserver observer() {
        return TrainingMeters.to(registry);
    }

    public Routes addTo(Routes routes) {
        return routes.with(PATH, _ -> Answer.text(CONTENT_TYPE, registry.scrape(CONTENT_TYPE)));
    }
}
