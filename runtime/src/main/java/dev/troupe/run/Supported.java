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
        require("parallel.tensor", spec.parallel().tensor(), 1);
        require("parallel.data", spec.parallel().data(), 1);
        require("training.zero", spec.training().zero(), 0);
    }

    private static void require(String key, int found, int most) {
        if (found > most) {
            throw new RequestException(key + " must be " + most + " in this version, which shares a model out over"
                    + " parallel.pipeline alone, but found " + found + ": set it to " + most);
        }
    }
}
