package dev.troupe.rows;

import dev.troupe.data.CorpusFiles;
import dev.troupe.data.IdSink;
import dev.troupe.tokenizer.Tokenizer;
import java.io.IOException;
import java.nio.file.Path;

/** Makes rows of files of documents, in one walk through them. One thread at a time. */
final class RowMaker {
    private final CorpusFiles files;
    private final Tokenizer tokenizer;
    private final RowSettings settings;

    RowMaker(CorpusFiles files, Tokenizer tokenizer, RowSettings settings) {
        this.files = files;
        this.tokenizer = tokenizer;
        this.settings = settings;
    }

    /** Everything that the rows are a function of but the files. */
    String purpose() {
        return "rows 1 of " + tokenizer.identity() + ", " + settings;
    }

    void make(IdSink sink) throws IOException {
        RowPacker packer = new RowPacker(settings, sink);
        for (int index = 0; index < files.files().size(); index++) {
            Path file = files.files().get(index);
            LineReader.read(file, index, (place, line) -> packer.addRow(place, JsonLine.read(place, line)));
        }
        packer.endRow();
    }
}
