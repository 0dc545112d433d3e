import type {PageProps} from "./routes";

export default function Page({captured}: PageProps) {
    return <p class="muted">{captured}</p>;
}
