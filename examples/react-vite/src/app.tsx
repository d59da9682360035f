// Asks where the service is, then shows the delivery. In a product the address is known, and the key is replaced by a
// short-lived access token from your own server: `credentials: { accessToken: async () => … }`.

import { createUplink, type BrowserUplink } from 'mocap-uplink/browser'
import { startHashers } from 'mocap-uplink/browser-hasher'
import { useState, type FormEvent } from 'react'
import { Delivery } from './delivery.tsx'

// One worker for the page. With it every part is hashed while it is sent and compared with what the storage says it received.
const hashers = startHashers()

export function App() {
  const [uplink, setUplink] = useState<BrowserUplink>()
  const [problem, setProblem] = useState('')
  async function connect(event: FormEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault()
    const fields = new FormData(event.currentTarget)
    const text = (name: string): string => String(fields.get(name)).trim()
    try {
      const credentials = { apiKey: text('key') }
      setUplink(createUplink({ baseUrl: text('service'), credentials, ...(await hashers) }))
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
        <form onSubmit={(event) => void connect(event)}>
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
