/** What each setting means, by the part of `berth.yml` that it stands in. Not in the schema: functions carry that. */
export const settingsWords: Record<string, Record<string, string>> = {
  top: {
    shim: "The agent that is started on each machine: dstack's shim.",
    'shim.version': 'Its version.',
    'shim.download_url':
      'Where a machine gets it from. `{version}` and `{arch}` (`amd64`, `arm64`) are filled in.',
    'shim.runner_download_url': 'The same for the runner, which the shim starts for tasks.',
    ssh: 'How Berth enters its machines.',
    'ssh.private_key':
      'An OpenSSH private key without a passphrase. Made at the first start, or the first deployment, when left out. A new one cannot enter the machines of the old one.',
    idle: 'When a machine counts as idle.',
    'idle.arrival_grace':
      'How long a renter may take to show up before a claim can lapse. The machine costs money meanwhile.',
    'idle.gpu_percent':
      'A GPU that is busier than this many percent is at work, and its machine is not idle.',
    api: 'How the API may be used.',
    'api.requests_per_second':
      "What one API key may ask; five seconds' worth may come at once. More gets 429, and nothing is done.",
    limits: 'What may be spent. What is left out is not limited. See [Limits](using.md#limits).',
    'limits.max_price_per_hour':
      'US dollars an hour, of everything that lives at the same time, from just before its launch until it is proved to be gone.',
    'limits.max_instances': 'Instances that have not ended, idle ones too.',
    'limits.monthly_budget':
      'US dollars in a month of UTC. Keeps new machines from being rented; ends none that runs.',
    'limits.max_duration':
      'Nobody has an instance for longer, whatever is asked for. It counts from the rental, and anew when an idle machine is taken.',
  },
  hotaisle: {
    type: '',
    team_handle: 'The handle of the team, not its display name.',
    creds: 'Who asks.',
    'creds.type': '',
    'creds.api_key':
      '`<prefix>.<secret>`, from the Hot Aisle console. Needs the role `operator` in the team; and the user role `owner`, if it is to upload the SSH key itself.',
    regions: 'Those that are used. All, which is one, when left out.',
    bare_metal: '**Bare metal charges eight hours at once**, so it is offered only where this is `true`.',
    api_url: 'The address of the API.',
  },
  oci: {
    type: '',
    creds: 'Who asks: one of the three forms below.',
    regions: 'Those that are used. All of these to which the tenancy is subscribed, when left out.',
    compartment_id: 'The OCID of the compartment in which everything is made. Berth makes one when left out.',
    endpoint:
      "Instead of Oracle's addresses. `{service}` (`compute`, `network`, `identity`, `marketplace`, `auth`) and `{region}` are filled in.",
    ssh_port: "Where machines' sshd is reached, in networks that forward another port to it.",
    experimental_shapes:
      'Offers shapes on which nobody has run the images yet: all of them, or those that are named.',
    prices:
      "US dollars per hour, by shape: offers one that Oracle's price list lacks, and replaces a price that it has.",
    image_version: "Version of dstack's machine images.",
  },
  'oci creds client': {
    type: '',
    user: 'OCID of the user.',
    tenancy: 'OCID of the tenancy.',
    fingerprint: "Of the API key, as OCI's console shows it.",
    key_content: 'The private key (PEM). Set this or `key_file`.',
    key_file: 'A file with it. Not for a deployment, which has no files.',
    pass_phrase: 'Of the private key.',
    region: 'Name or key (`FRA`) of any region that the tenancy is subscribed to.',
  },
  'oci creds default': {
    type: '',
    file: "A config file of OCI's own tools.",
    profile: 'The profile in it, with an API key or made by `oci session authenticate`.',
  },
  'oci creds session': {
    type: '',
    tenancy: 'OCID of the tenancy.',
    security_token:
      'What `security_token_file` of a profile made by `oci session authenticate` holds. Berth renews it while the session lasts.',
    key_content: 'The private key of the session (PEM). Set this or `key_file`.',
    key_file: 'A file with it. Not for a deployment, which has no files.',
    pass_phrase: 'Of the private key.',
    region: 'Name or key (`FRA`) of any region that the tenancy is subscribed to.',
  },
}
