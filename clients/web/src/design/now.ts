// The time, for components that show ages: it moves once a second while they are visible.
import {useEffect, useState} from "preact/hooks";

/// The browser's clock in seconds. Changes once a second where `moves`.
export function useNow(moves = true): number {
    const [now, setNow] = useState(() => Date.now() / 1000);
    useEffect(() => {
        if (!moves) return;
        setNow(Date.now() / 1000);
        const timer = setInterval(() => {
            if (!document.hidden) setNow(Date.now() / 1000);
        }, 1000);
        return () => clearInterval(timer);
    }, [moves]);
    return now;
}
