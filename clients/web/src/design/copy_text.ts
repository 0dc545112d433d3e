// Text for the clipboard.
export async function copyText(text: string): Promise<void> {
    if (navigator.clipboard) return navigator.clipboard.writeText(text);
    // Pages over plain HTTP from another host have no clipboard.
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
}
