/* A Pasa bot in C, with no library for JSON: it looks for the numbers it needs by their names.
   Compile it with: cc -O2 -o bold docs/programs/bold.c    and run it with: command: [./bold] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long number(const char *line, const char *name) {
    const char *found = strstr(line, name);
    return found ? strtol(found + strlen(name), NULL, 10) : 0;
}

int main(void) {
    static char line[65536];
    while (fgets(line, sizeof line, stdin)) {
        if (strncmp(line, "{\"protocol\":", 12) == 0)
            puts("{\"protocol\":1}");
        else if (strncmp(line, "{\"decide\":", 10) == 0)
            printf("{\"action\":%ld}\n", number(line, "\"lead\":") >= 50
                                            ? number(line, "\"least_stake\":")
                                            : number(line, "\"most_stake\":"));
        fflush(stdout);
    }
    return 0;
}
