/* Prints every route of a SimGrid platform: hosts, latency [s], bandwidth [byte/s], links. */
#include <simgrid/engine.h>
#include <simgrid/host.h>
#include <simgrid/link.h>
#include <stdio.h>
#include <xbt/dynar.h>

static void print_route(sg_host_t from, sg_host_t to)
{
    xbt_dynar_t links = xbt_dynar_new(sizeof(sg_link_t), NULL);
    sg_link_t link;
    unsigned int at;
    sg_host_get_route(from, to, links);
    printf("%s %s %.17g %.17g", sg_host_get_name(from), sg_host_get_name(to),
           sg_host_get_route_latency(from, to), sg_host_get_route_bandwidth(from, to));
    xbt_dynar_foreach (links, at, link)
        printf(" %s", sg_link_get_name(link));
    printf("\n");
    xbt_dynar_free(&links);
}

int main(int argc, char **argv)
{
    simgrid_init(&argc, argv);
    simgrid_load_platform(argv[1]);
    simgrid_run(); /* SimGrid makes its routes ready when it runs */
    size_t count = sg_host_count();
    sg_host_t *hosts = sg_host_list();
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++)
            if (i != j)
                print_route(hosts[i], hosts[j]);
    return 0;
}
