package dev.troupe.rows;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.hardwood.InputFile;
import dev.hardwood.metadata.PhysicalType;
import dev.hardwood.metadata.RepetitionType;
import dev.hardwood.reader.ParquetFileReader;
import dev.hardwood.reader.RowReader;
import dev.hardwood.row.PqList;
import dev.hardwood.row.PqStruct;
import dev.hardwood.schema.ColumnProjection;
import dev.hardwood.schema.SchemaNode;
import dev.hardwood.schema.SchemaNode.GroupNode;
import dev.hardwood.schema.SchemaNode.PrimitiveNode;
import dev.troupe.data.DataException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * A Parquet file, row by row: a column {@code text}, of strings, or {@code messages}, of lists of structs of strings, among
 * them {@code role} and {@code content}; a field that is null is left out, and one that is not a string must be null. Other
 * columns are skipped. One thread.
 *
 * <p>For damaged bytes of a file the library throws exceptions of any kind.
 */
final class ParquetColumns implements AutoCloseable {
    private static final JsonMapper JSON = new JsonMapper();
    private static final int BYTES_OF_A_ROW = 16;

    private final Path file;
    private final int longestBytes;
    private final long mostBytes;
    private long bytesRead;
    private final ParquetFileReader reader;
    private final RowReader rows;
    private final boolean isText;
    /** The strings of a message; none if the rows are text. */
    private final List<String> fields;
    /** The other fields of a message, which must be null in every row. */
    private final List<String> nulls;
    private final boolean hasTools;

    /**
     * Opens a file.
     *
     * @param input reads the file
     * @param longestBytes the most bytes of the strings of a row
     * @param mostBytes the most bytes of all rows, with {@value #BYTES_OF_A_ROW} more for each
     * @throws DataException if it does not have the columns
     */
    ParquetColumns(Path file, InputFile input, int longestBytes, long mostBytes) throws IOException {
        this.file = file;
        this.longestBytes = longestBytes;
        this.mostBytes = mostBytes;
        this.reader = ParquetFileReader.open(input);
        try {
            Optional<SchemaNode> text = column(Entry.TEXT);
            Optional<SchemaNode> messages = column(Entry.MESSAGES);
            if (text.isPresent() == messages.isPresent()) {
                throw new DataException(file + " must have a column " + Entry.TEXT + " or a column " + Entry.MESSAGES
                        + ", but has " + (text.isPresent() ? "both" : "neither") + " among " + String.join(", ",
                                columns().stream().map(SchemaNode::name).toList()));
            }
            if (text.isPresent() && !isString(text.get())) {
                throw new DataException(file + ": the column " + Entry.TEXT + " must be of strings; write it as such");
            }
            this.isText = text.isPresent();
            List<SchemaNode> members = messages.map(this::members).orElse(List.of());
            this.fields = members.stream().filter(ParquetColumns::isString).map(SchemaNode::name).toList();
            this.nulls = members.stream().map(SchemaNode::name).filter(name -> !fields.contains(name)).toList();
            this.hasTools = messages.isPresent() && column(Entry.TOOLS).isPresent();
            this.rows = reader.buildRowReader().projection(ColumnProjection.columns(isText
                    ? new String[]{Entry.TEXT}
                    : hasTools ? new String[]{Entry.MESSAGES, Entry.TOOLS} : new String[]{Entry.MESSAGES})).build();
        } catch (RuntimeException refused) {
            reader.close();
            throw refused;
        }
    }

    private List<SchemaNode> columns() {
        return reader.getFileSchema().getRootNode().children();
    }

    private Optional<SchemaNode> column(String name) {
        return columns().stream().filter(node -> node.name().equals(name)).findFirst();
    }

    private static boolean isString(SchemaNode node) {
        return node instanceof PrimitiveNode leaf && leaf.type() == PhysicalType.BYTE_ARRAY
                && leaf.repetitionType() != RepetitionType.REPEATED;
    }

    private List<SchemaNode> members(SchemaNode column) {
        if (column instanceof GroupNode list && list.isList() && list.getListElement() instanceof GroupNode message
                && message.children().stream().filter(ParquetColumns::isString).map(SchemaNode::name).toList()
                        .containsAll(List.of("role", "content"))) {
            return message.children();
        }
        throw new DataException(
                file + ": the column " + Entry.MESSAGES + " must be of lists of structs, with the strings"
                        + " role and content; write it as such, or as .jsonl");
    }

    /** Goes to the next row; returns false if there is none. */
    boolean next() {
        if (!rows.hasNext()) {
            return false;
        }
        rows.next();
        return true;
    }

    /**
     * Returns the content of the row.
     *
     * @throws DataException if it is empty, not UTF-8, or longer than a line of a .jsonl file may be, or if the rows so far
     *     are more than such a file has
     */
    Entry entry(DocumentOrigin origin) {
        return isText ? new Entry.Text(text(origin)) : new Entry.Chat(chat(origin));
    }

    private String text(DocumentOrigin origin) {
        byte[] text = rows.getBinary(Entry.TEXT);
        if (text == null) {
            throw new DataException(origin + " is null in the column " + Entry.TEXT + "; leave the row out");
        }
        requireShort(origin, text.length);
        count(text.length);
        return JsonLine.decoded(origin, text);
    }

    private void requireShort(DocumentOrigin origin, long bytes) {
        if (bytes > longestBytes) {
            throw new DataException(origin + " has more than " + longestBytes + " bytes; cut it into several rows");
        }
    }

    private ObjectNode chat(DocumentOrigin origin) {
        ObjectNode chat = JSON.createObjectNode();
        ArrayNode messages = chat.putArray(Entry.MESSAGES);
        long bytes = 0;
        PqList list = rows.getList(Entry.MESSAGES);
        if (list == null) {
            throw new DataException(origin + " is null in the column " + Entry.MESSAGES + "; leave the row out");
        }
        if (hasTools && !rows.isNull(Entry.TOOLS)) {
            throw new DataException(origin + " has " + Entry.TOOLS
                    + ", which are read from .jsonl files only; write such a file, or leave the column out");
        }
        for (PqStruct struct : list.structs()) {
            ObjectNode message = messages.addObject();
            for (String field : struct == null ? List.<String>of() : nulls) {
                if (!struct.isNull(field)) {
                    throw new DataException(origin + ": " + field + " of a message must be a string, or null in every"
                            + " row; write the file as .jsonl, or leave the field out");
                }
            }
            for (String field : struct == null ? List.<String>of() : fields) {
                byte[] value = struct.getBinary(field);
                if (value != null) {
                    bytes += value.length;
                    requireShort(origin, bytes);
                    message.put(field, JsonLine.decoded(origin, value));
                }
            }
        }
        count(bytes);
        return chat;
    }

    private void count(long bytes) {
        bytesRead += bytes + BYTES_OF_A_ROW;
        if (bytesRead > mostBytes) {
            throw new DataException(
                    file + " unpacks to more than " + mostBytes + " bytes, far more than it has; write it"
                            + " again from its source");
        }
    }

    @Override
    public void close() throws IOException {
        rows.close();
        reader.close();
    }
}
