import { Command } from 'commander'

/** `berth help TOPIC`: pages that belong to no command. */
export const topics = (): Command[] => [topic('access', access), topic('exit-codes', exitCodes)]

const access = `How berth finds the API, in this order:

  1. --url, or BERTH_URL, with the key in BERTH_API_KEY
  2. --data FOLDER: the client.json that "npm start -- --data FOLDER" writes
  3. .berth/client.json below the folder that you are in, as "npm start" writes it
  4. the profile ~/.config/berth/client.json (or below XDG_CONFIG_HOME), which you write:
       {"url": "https://abc123.execute-api.us-east-1.amazonaws.com", "apiKey": "berth_..."}
     readable by you alone: chmod 600 ~/.config/berth/client.json

With an address of 1. and no BERTH_API_KEY, the key is taken from 3. or 4. if the same address stands there.
A key is made by "berth keys create". It is never printed, and never sent unencrypted to another machine.
`

const exitCodes = `Exit codes:

    0  done
    1  failed: refused, or not reachable, or something else that the message says
    2  wrong usage: an option or a value that is not known, or -y is missing where nobody can be asked
    3  nothing found: no offer that fits, no instance of that name
    4  the rental came to nothing: it ended before the machine was ready
  130  interrupted by Ctrl-C; a rental that was under way goes on

berth ssh ends with the exit code of ssh, which is that of the command on the machine, or 255.
`

const topic = (name: string, text: string): Command =>
  new Command(name).configureHelp({ formatHelp: () => text }).action((_, called: Command) => called.help())
