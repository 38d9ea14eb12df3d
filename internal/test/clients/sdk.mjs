// Lets the TypeScript SDK talk to a server as an application would: connect,
// list, call, read, complete, close. Prints one JSON object.
//
// usage: node sdk.mjs <1|2-legacy|2-modern> <cwd> <program> [argument…]
//        node sdk.mjs <1|1-sse|2-legacy|2-modern> <cwd> <URL> <token>
const [which, cwd, command, ...args] = process.argv.slice(2)

async function connect() {
  const info = { name: 'copse-test', version: '0' }
  const overHTTP = /^https?:/.test(command)
  const modules = which.startsWith('1')
    ? { client: '@modelcontextprotocol/sdk/client/index.js', stdio: '@modelcontextprotocol/sdk/client/stdio.js' }
    : { client: '@modelcontextprotocol/client', stdio: '@modelcontextprotocol/client/stdio' }
  const { Client } = await import(modules.client)
  const options = which === '2-modern' ? { versionNegotiation: { mode: { pin: '2026-07-28' } } } : {}
  const client = new Client(info, options)
  await client.connect(await transport(overHTTP, modules))
  return client
}

async function transport(overHTTP, modules) {
  if (!overHTTP) {
    const { StdioClientTransport } = await import(modules.stdio)
    return new StdioClientTransport({ command, args, cwd, env: process.env, stderr: 'inherit' })
  }
  const how = { requestInit: { headers: { Authorization: `Bearer ${args[0]}` } } }
  if (which === '1-sse') {
    const { SSEClientTransport } = await import('@modelcontextprotocol/sdk/client/sse.js')
    return new SSEClientTransport(new URL(command), how)
  }
  const { StreamableHTTPClientTransport } = await import(
    which === '1' ? '@modelcontextprotocol/sdk/client/streamableHttp.js' : '@modelcontextprotocol/client'
  )
  return new StreamableHTTPClientTransport(new URL(command), how)
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
