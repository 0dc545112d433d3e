// A field that filters while one types.
import {useEffect, useRef, useState} from "preact/hooks";

export function SearchField({value, label, onInput}: {value: string; label: string; onInput: (text: string) => void}) {
    const [text, setText] = useState(value);
    const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
    const sent = useRef(value);
    // What comes back of one's own typing must not replace what was typed since.
    useEffect(() => {
        if (value !== sent.current) setText((sent.current = value));
    }, [value]);
    return (
        <input
            class="input search"
            type="search"
            data-search
            placeholder={label}
            aria-label={label}
            value={text}
            onInput={(event) => {
                const next = event.currentTarget.value;
                setText(next);
                clearTimeout(timer.current);
                timer.current = setTimeout(() => onInput((sent.current = next)), 120);
            }}
        />
    );
}
