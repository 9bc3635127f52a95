package dev.troupe.engine.cpu;

import dev.troupe.engine.DataType;
import dev.troupe.engine.provider.EngineSettings;

/** Prints twice why the engine cannot be used, since only the first attempt to load a library gets the reason. */
final class LibraryProbe {
    private LibraryProbe() {
    }

    public static void main(String[] arguments) {
        for (int attempt = 0; attempt < 2; attempt++) {
            System.out.println(
                    new CpuEngineProvider().obstacle(new EngineSettings(DataType.FLOAT32, 1)).orElse("serves"));
        }
    }
}
