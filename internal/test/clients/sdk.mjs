// Lets the TypeScript SDK talk to a server as an application would: connect,
// list, call, read, complete, close. Prints one JSON object.
//
// usage: node sdk.mjs <1|2-legacy|2-modern> <cwd> <program> [argument…]
const [which, cwd, command, ...args] = process.argv.slice(2)

async function connect() {
  const info = { name: 'copse-test', version: '0' }
  const server = { command, args, cwd, env: process.env, stderr: 'inherit' }
  if (which === '1') {
    const { Client } = await import('@modelcontextprotocol/sdk/client/index.js')
    const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js')
    const client = new Client(info)
    await client.connect(new StdioClientTransport(server))
    return client
  }
  const { Client } = await import('@modelcontextprotocol/client')
  const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio')
  const options = which === '2-modern' ? { versionNegotiation: { mode: { pin: '2026-07-28' } } } : {}
  const client = new Client(info, options)
  await client.connect(new StdioClientTransport(server))
  return client
}

const client = await connect()
const out = {
  server: client.getServerVersion(),
  capabilities: client.getServerCapabilities(),
  instructions: client.getInstructions(),
  tools: (await client.listTools()).tools.map((t) => t.name),
  prompts: (await client.listPrompts()).prompts.map((p) => p.name),
  resources: (await client.listResources()).resources.map((r) => r.uri),
  templates: (await client.listResourceTemplates()).resourceTemplates.map((r) => r.uriTemplate),
  call: await client.callTool({ name: 'get_current_branch', arguments: {} }),
  stack: await client.callTool({ name: 'get_branch_stack' }),
  bad: await client.callTool({ name: 'get_branch_metadata', arguments: { branch: 'no-such' } }),
  tree: (await client.readResource({ uri: 'twig://repo/tree' })).contents[0].text,
  prompt: (await client.getPrompt({ name: 'branch-context' })).messages[0].content.text,
  completion: (
    await client.complete({
      ref: { type: 'ref/prompt', name: 'branch-context' },
      argument: { name: 'branch', value: 'feat' },
    })
  ).completion.values,
}
await client.close()
console.log(JSON.stringify(out))
