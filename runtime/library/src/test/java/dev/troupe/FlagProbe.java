package dev.troupe;

import java.nio.file.Path;

/** A program that prints why this JVM cannot train. */
final class FlagProbe {
    private FlagProbe() {
    }

    public static void main(String[] arguments) throws InterruptedException {
        try {
            Troupe.train(SmallTraining.spec(Path.of("never")).build(), TrainingListener.NONE);
        } catch (RequestException refused) {
            System.out.println(refused.getMessage());
        }
    }
}
