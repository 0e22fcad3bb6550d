import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.reflect.Field;
import java.util.HashMap;
import java.util.Map;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import software.amazon.dynamodb.services.local.main.ServerRunner;
import software.amazon.dynamodb.services.local.server.DynamoDBProxyServer;

/**
 * Starts one of AWS's DynamoDB Local for each line "start" of its standard input, with tables of its own, on any free port of 127.0.0.1
 * (by itself it would listen on every interface), and prints the port. A line with the port stops that one. It ends when its standard input
 * does, that is with whoever started it.
 */
public class LoopbackDynamoDbLocal {
  public static void main(String[] arguments) throws Exception {
    Map<String, DynamoDBProxyServer> servers = new HashMap<>();
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
    for (String line; (line = lines.readLine()) != null; ) {
      if (!line.equals("start")) {
        servers.remove(line).stop();
        System.out.println("stopped " + line);
        continue;
      }
      DynamoDBProxyServer proxy = ServerRunner.createServerFromCommandLineArgs(arguments);
      Field field = DynamoDBProxyServer.class.getDeclaredField("server");
      field.setAccessible(true);
      ServerConnector connector = (ServerConnector) ((Server) field.get(proxy)).getConnectors()[0];
      connector.setHost("127.0.0.1");
      connector.setPort(0);
      proxy.start();
      servers.put("" + connector.getLocalPort(), proxy);
      System.out.println("started " + connector.getLocalPort());
    }
    System.exit(0);
  }
}
