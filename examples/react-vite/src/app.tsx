// Asks where the service is, then shows the delivery. In a product the address is known, and the key is an access token
// that your own server hands out for a while: `credentials: { accessToken: async () => … }`.

import { createUplink, type BrowserUplink } from 'mocap-uplink/browser'
import { useState, type FormEvent } from 'react'
import { Delivery } from './delivery.tsx'

export function App() {
  const [uplink, setUplink] = useState<BrowserUplink>()
  const [problem, setProblem] = useState('')
  function connect(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault()
    const fields = new FormData(event.currentTarget)
    const text = (name: string): string => String(fields.get(name)).trim()
    try {
      setUplink(createUplink({ baseUrl: text('service'), credentials: { apiKey: text('key') } }))
    } catch (error) {
      setProblem(String(error))
    }
  }
  return (
    <main>
      <h1>Deliver clips</h1>
      {uplink ? (
        <Delivery uplink={uplink} />
      ) : (
        <form onSubmit={connect}>
          <label>
            Service <input name="service" type="url" required defaultValue="http://127.0.0.1:8787" />
          </label>
          <label>
            Key <input name="key" type="password" required autoComplete="off" />
          </label>
          <button>Connect</button>
          <p role="alert">{problem}</p>
        </form>
      )}
    </main>
  )
}
