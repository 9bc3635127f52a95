package dev.troupe.run;

import dev.troupe.config.RunSpec;

/** What this version trains, of all that a configuration may say. */
final class Supported {
    private Supported() {
    }

    /**
     * Refuses a run that would need what is not there.
     *
     * @throws RequestException
     *             with the key that asks for it
     */
    static void require(RunSpec spec) {
        require("training.zero", spec.training().zero(), 1);
    }

    private static void require(String key, int found, int most) {
        if (found > most) {
            throw new RequestException(
                    key + " must be at most " + most + " in this version, but found " + found + ": set it to " + most);
        }
    }
}
