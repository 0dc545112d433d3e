# Completion of hpsearch for fish: hpsearch completion fish | source
# The program completes its own words (hpsearch __complete WORDS), so this file fits each of its versions.

function __hpsearch_words
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l program (string replace -r '^~' $HOME -- $words[1])
    set -e words[1]
    set -l option (string match -r '^--[^=]*=' -- $current)
    for line in ($program __complete $words "$current" 2>/dev/null)
        switch $line
            case :files
                for path in (__fish_complete_path (string replace -- "$option" '' "$current"))
                    printf '%s%s\n' "$option" $path
                end
            case :directories
                for path in (__fish_complete_directories (string replace -- "$option" '' "$current") '')
                    printf '%s%s\n' "$option" $path
                end
            case '*'
                printf '%s\n' $line
        end
    end
end

complete -c hpsearch -e
complete -c hpsearch -f -a '(__hpsearch_words)'
