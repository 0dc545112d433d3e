// Lines of a story, the newest first.
import {daemonNow} from "../api/client";
import {formatShortTime, formatTime} from "../i18n/format";
import {Link} from "../design/link";
import type {StoryLine} from "./story";

/// Trial numbers in a sentence become links: "trial 17 promoted to …".
function Sentence({line, experiment}: {line: StoryLine; experiment: number}) {
    if (line.trial === undefined) return <>{line.text}</>;
    const number = String(line.trial);
    const at = line.text.search(new RegExp(`(?<!\\d)${number}(?!\\d)`));
    if (at < 0) return <>{line.text}</>;
    return (
        <>
            {line.text.slice(0, at)}
            <Link to={`e/${experiment}/t/${number}`}>{number}</Link>
            {line.text.slice(at + number.length)}
        </>
    );
}

export function StoryList({lines, experiment}: {lines: readonly StoryLine[]; experiment: number}) {
    const now = daemonNow();
    return (
        <ol class="story">
            {lines.map((line) => (
                <li key={line.lsn} class={line.trouble ? "trouble" : ""}>
                    <time dateTime={new Date(line.at * 1000).toISOString()} title={formatTime(line.at)}>
                        {formatShortTime(line.at, now)}
                    </time>
                    <span>
                        <Sentence line={line} experiment={experiment} />
                    </span>
                </li>
            ))}
        </ol>
    );
}
