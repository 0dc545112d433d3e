// A name among others: what tells it from them, and in a second line what they have in common.
import type {ToldApart} from "../i18n/names";

export function ToldName({name, told}: {name: string; told: ToldApart | undefined}) {
    return (
        <span title={name}>
            <Breakable text={told?.own ?? name} />
            <Shared told={told} />
        </span>
    );
}

/// A name that is too long for its column breaks after a dot or an underscore.
function Breakable({text}: {text: string}) {
    return (
        <>
            {text.split(/(?<=[._])/).map((part, index) => (
                <>
                    {index > 0 && <wbr />}
                    {part}
                </>
            ))}
        </>
    );
}

/// The second line alone, for names that are links.
export function Shared({told}: {told: ToldApart | undefined}) {
    return told && told.shared !== "" ? (
        <span class="name-shared">
            <Breakable text={told.shared} />
        </span>
    ) : null;
}
