// YAML with its keys set off from its values.
export function YamlText({text}: {text: string}) {
    return (
        <pre class="yaml" tabIndex={0}>
            <code>
                {text.split("\n").map((line, index) => {
                    const found = /^(\s*(?:- )?)([^\s:#][^:#]*)(:)(.*)$/.exec(line);
                    return (
                        <span key={index}>
                            {found ? (
                                <>
                                    {found[1]}
                                    <span class="yaml-key">{found[2]}</span>
                                    {found[3]}
                                    {found[4]}
                                </>
                            ) : (
                                line
                            )}
                            {"\n"}
                        </span>
                    );
                })}
            </code>
        </pre>
    );
}
