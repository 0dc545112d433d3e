// A link between pages. It stays a true link: middle click, copying and the status line work.
import type {JSX} from "preact";
import {go, hrefOf} from "../state/router";
import type {Address} from "../state/address";

export function Link({to, children, ...rest}: {to: Address | string} & Omit<JSX.IntrinsicElements["a"], "href" | "role">) {
    const open = (event: MouseEvent) => {
        if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
        event.preventDefault();
        go(to);
    };
    return (
        <a {...rest} href={hrefOf(to)} onClick={open}>
            {children}
        </a>
    );
}
