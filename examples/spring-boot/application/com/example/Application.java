package com.example;

import dev.troupe.TrainingData;
import dev.troupe.TrainingHandle;
import dev.troupe.TrainingListener;
import dev.troupe.TrainingSpec;
import dev.troupe.TrainingStep;
import dev.troupe.Troupe;
import jakarta.annotation.PreDestroy;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.event.EventListener;
import org.springframework.stereotype.Component;

/** An application that trains while it runs, and stops the run with a checkpoint when it ends. */
@SpringBootApplication
public class Application {
    public static void main(String[] arguments) {
        SpringApplication.run(Application.class, arguments);
    }

    /** The one run of the application. */
    @Component
    static class Training implements TrainingListener {
        private final Path output;
        private CompletableFuture<TrainingHandle> run;

        Training(@Value("${training.output}") Path output) {
            this.output = output;
        }

        /** Starts on a thread of the common pool, so that the application is ready at once. */
        @EventListener(ApplicationReadyEvent.class)
        void start() {
            run = CompletableFuture.supplyAsync(() -> {
                TrainingSpec spec = TrainingSpec.builder().stages(2).steps(1_000_000).batch(4, 2).output(output)
                        .set("model.layers", 2).set("model.hidden", 32).set("model.sequence-length", 32).build();
                try {
                    return Troupe.start(spec, TrainingData.configured(), this);
                } catch (InterruptedException interrupted) {
                    throw new CompletionException(interrupted);
                }
            });
            run.whenComplete((_, failure) -> {
                if (failure != null) {
                    System.out.println("There is no run: " + failure);
                }
            });
        }

        @Override
        public void onStart(TrainingHandle handle) {
            System.out.println("Training on " + handle.engine());
        }

        @Override
        public void onStep(TrainingStep step) {
            System.out.printf("step %d: loss %.3f%n", step.step(), step.loss());
        }

        /** What SIGTERM comes to: the step ends, a checkpoint and the model are written. */
        @PreDestroy
        void stop() {
            run.thenCompose(handle -> {
                handle.stop();
                return handle.result();
            }).thenAccept(result -> System.out.println("The model is in " + result.model().orElseThrow()))
                    .exceptionally(_ -> null).join();
        }
    }
}
