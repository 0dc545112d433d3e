import assert from "node:assert/strict";
import {test} from "node:test";
import {EventLines, type StreamEvent} from "../src/api/event_stream";

const text = 'retry: 1000\n\n:\n\nid: 7\nevent: trials:3\ndata: {"a":\ndata: 1}\n\nid: 8\n\nevent: bye\r\ndata:{}\r\n\r\nevent: cut\ndata: 1\n';

function read(parts: readonly string[]): StreamEvent[] {
    const events: StreamEvent[] = [];
    const lines = new EventLines((event) => events.push(event));
    for (const part of parts) lines.take(part);
    return events;
}

test("events are read as EventSource reads them, in parts of any size", () => {
    const expected = [
        {type: "trials:3", data: '{"a":\n1}', lastEventId: "7"},
        {type: "bye", data: "{}", lastEventId: "8"},
    ];
    for (const size of [1, 2, 3, 7, 1000]) {
        const parts: string[] = [];
        for (let at = 0; at < text.length; at += size) parts.push(text.slice(at, at + size));
        assert.deepEqual(read(parts), expected, `parts of ${size}`);
    }
});
